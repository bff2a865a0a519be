// SPDX-License-Identifier: MIT
//
// Races of one to three generations, as on a busy machine: their noise is known from their turns.
#include "race/turn_race_fixture.hpp"

namespace joust::race {
namespace {

class FewStarts : public TurnRace {
 protected:
  FewStarts() {
    scenario.cases.front().load.duration = std::chrono::milliseconds(400);
    scenario.precision = 0.05;
  }

  Pair raced(std::uint64_t starts) {
    scenario.rounds = starts;
    const RaceResult result = run();
    verdict = result.cases.front().verdict;
    causes.clear();
    for (const Cause& cause : result.cases.front().causes) causes += cause.sentence + ". " + cause.remedy;
    return *result.cases.front().ranking.of("epoll", "threads");
  }
  // Returns in how many of these races it was decided so.
  int count(int races, std::uint64_t starts, stats::Decision decision) {
    int found = 0;
    for (int i = 0; i < races; ++i) found += raced(starts).decision == decision;
    return found;
  }

  std::string verdict, causes;
};

TEST_F(FewStarts, OneTellsALargeDifference) {
  runner.world.rate["epoll"] = 140e3;
  EXPECT_EQ(count(20, 1, stats::Decision::differ), 20);
  EXPECT_TRUE(verdict.contains("epoll is faster than threads")) << verdict;
  EXPECT_TRUE(causes.contains("From 1 start: ") && causes.contains("Race longer (--rounds).")) << causes;
}

TEST_F(FewStarts, TwoTellMoreThanOne) {
  runner.world.rate["epoll"] = 118e3;
  EXPECT_LE(count(100, 1, stats::Decision::differ), 20);
  EXPECT_GE(count(100, 2, stats::Decision::differ), 50);
  EXPECT_GE(count(100, 3, stats::Decision::differ), 90);
}

// Also where starts differ as those of nginx and redis do, and turns as on a busy machine.
TEST_F(FewStarts, EqualsAreNotToldApart) {
  for (const double starts_differ : {0.005, 0.024, 0.05})
    for (const double turns_differ : {0.03, 0.2}) {
      runner.world.generation_noise = starts_differ, runner.world.turn_noise = turns_differ;
      int told = 0;
      for (const std::uint64_t starts : {1, 2, 3}) told += count(60, starts, stats::Decision::differ);
      EXPECT_LE(told, 4) << "of 180; starts " << starts_differ << ", turns " << turns_differ;
    }
}

// Whether a server stalls now and then is not known from one start.
TEST_F(FewStarts, OneCallsNobodyEqual) {
  scenario.precision = 0.5;
  EXPECT_EQ(count(20, 1, stats::Decision::equal), 0);
}

}  // namespace
}  // namespace joust::race
