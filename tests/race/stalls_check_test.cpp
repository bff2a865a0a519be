// SPDX-License-Identifier: MIT
// Check 14.
#include <random>

#include "race/checks/checks.hpp"
#include "race/turn_race_fixture.hpp"
#include "sanitized.hpp"

namespace joust::race {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class Stalls : public TurnRace {
 protected:
  Stalls() {
    begin(12);
    runner.world.rate = {{"threads", 100e3}, {"epoll", 105e3}, {"pool", 103e3}};
  }

  void begin(std::uint64_t generations) {
    scenario = fake_scenario({"threads", "epoll", "pool"}, generations);
    scenario.cases.front().protocol = "turns";
    scenario.cases.front().load.duration = std::chrono::milliseconds(400);  // 25 turns of 20 ms
  }

  // Runs a race whose noise nobody else has.
  CheckResult check(std::uint64_t seed) {
    std::seed_seq sequence{seed};
    runner.world.random = stats::Random(sequence);
    result = run();
    return find_check(14)->look(result, result.cases.front());
  }
  double ratio(const std::string& name) const { return entry(result, name).summary.ratio->median; }

  RaceResult result;
};

// It is 5 % faster in quiet turns, and its mean is below the others'.
TEST_F(Stalls, AContestantThatStandsStillInItsOwnTurnsIsNamedAndRankedByAllOfThem) {
  for (const double share : {0.10, 0.15, 0.20, 0.25, 0.29}) {
    if (test::is_sanitized() && share != 0.20) continue;
    runner.world.stalls = {{"epoll", share}};
    int named = 0, others = 0;
    std::string unnamed;
    double sum = 0;
    constexpr int kRaces = 20;
    for (std::uint64_t seed = 1; seed <= kRaces; ++seed) {
      const CheckResult found = check(seed);
      named += found.detail.starts_with("epoll: over all its turns its throughput is ");
      others += has(found.detail, "threads: ") || has(found.detail, "pool: ");
      sum += ratio("epoll");
      if (!found.detail.starts_with("epoll: over")) unnamed += "\n" + found.detail;
    }
    EXPECT_GE(named, share < 0.15 ? kRaces * 7 / 10 : kRaces - 1) << share << unnamed;
    EXPECT_EQ(others, 0) << share;
    EXPECT_NEAR(sum / kRaces, 1.05 * (1 - share / 2), 0.012) << share;
  }
}

TEST_F(Stalls, TheWorstTurnsAreTold) {
  runner.world.stalls = {{"epoll", 0.2}};
  const CheckResult found = check(1);
  EXPECT_TRUE(has(found.detail, "% less than in its quiet ones, beyond that of the others ("))
      << found.detail;
  EXPECT_TRUE(has(found.detail, "its figures and place count all turns; the worst: turn ")) << found.detail;
  EXPECT_TRUE(has(found.detail, " of generation ")) << found.detail;
  EXPECT_LT(ratio("epoll"), 1) << "it is faster in its quiet turns alone";
}

// Few generations do not tell these stalls from chance. But two that differ by 6 % over all turns are not
// equal.
TEST_F(Stalls, EqualInQuietTurnsAloneIsNotEqual) {
  begin(6);
  runner.world.rate = {{"threads", 100e3}, {"epoll", 100e3}, {"pool", 100e3}};
  runner.world.stalls = {{"epoll", 0.12}};
  int open = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    check(seed);
    const CaseResult& one = result.cases.front();
    const Pair pair = one.ranking.of("epoll", "threads").value();
    EXPECT_NE(pair.decision, stats::Decision::equal) << seed;
    if (!pair.all_turns) continue;
    ++open;
    EXPECT_LT(pair.all_turns->estimate, 0.98);
    EXPECT_TRUE(has(one.verdict, "are equal in quiet turns; over all turns, stalls included, "))
        << one.verdict;
  }
  EXPECT_GT(open, 0);
}

TEST_F(Stalls, TheReferenceIsNamedWhereItIsTheOneThatStalls) {
  runner.world.stalls = {{"threads", 0.2}};
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const CheckResult found = check(seed);
    EXPECT_TRUE(found.detail.starts_with("threads: over all its turns its throughput is ")) << found.detail;
    EXPECT_FALSE(has(found.detail, "pool: ")) << found.detail;
    EXPECT_NEAR(ratio("epoll"), 1.05 / 0.9, 0.1);
  }
}

TEST_F(Stalls, ACollectorThatCostsItsOwnTurnsMoreIsNamed) {
  runner.world.bursts = {{"epoll", 0.2}};
  const CheckResult found = check(1);
  EXPECT_TRUE(found.detail.starts_with("epoll: over all its turns its server CPU time per message is "))
      << found.detail;
  EXPECT_TRUE(has(found.detail, "% more than in its quiet ones")) << found.detail;
  EXPECT_NEAR(entry(result, "epoll").summary.cost_ratio->median, 1.2, 0.05);
  EXPECT_FALSE(has(found.detail, "throughput")) << found.detail;
}

// What else runs on the machine takes turns of all alike.
TEST_F(Stalls, EqualContestantsAreNamedInOneRaceOfAHundredAtMost) {
  runner.world.rate = {{"threads", 100e3}, {"epoll", 100e3}, {"pool", 100e3}};
  int races = 0, told = 0;
  for (const std::uint64_t generations : {5, 12})
    for (const double disturbed : {0.0, 0.05, 0.2}) {
      begin(generations);
      runner.world.disturbed = disturbed;
      for (std::uint64_t seed = 1; seed <= (test::is_sanitized() ? 6U : 60U); ++seed, ++races)
        told += has(check(1000 * generations + seed).detail, "over all its turns");
    }
  EXPECT_LE(told, races / 100);
}

TEST_F(Stalls, WhatWasNotSeenIsSaid) {
  CheckResult found = check(1);
  EXPECT_EQ(found.verdict, Verdict::pass);
  EXPECT_TRUE(
      has(found.detail, "all turns and the quiet ones agree within 2 % or chance; the greatest difference: "))
      << found.detail;
  begin(2);
  found = check(1);
  EXPECT_EQ(found.verdict, Verdict::warn);
  EXPECT_TRUE(found.detail.starts_with("nothing to check: 2 generations")) << found.detail;
  begin(3);
  runner.world.stalls = {{"epoll", 0.2}};
  found = check(1);
  EXPECT_EQ(found.verdict, Verdict::warn);
  EXPECT_TRUE(has(found.detail, "with 3 generations a contestant's own stalls of up to")) << found.detail;
}

TEST_F(Stalls, WholeTrialsHaveNoQuietTurns) {
  scenario.turns = false;
  result = run();
  EXPECT_EQ(std::ranges::count(result.cases.front().checks, 14, &CheckResult::id), 0);
}

}  // namespace
}  // namespace joust::race
