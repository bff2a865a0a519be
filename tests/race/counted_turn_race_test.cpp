// SPDX-License-Identifier: MIT
//
// Races in which a turn is a number of messages or transfers.
#include "race/turn_race_fixture.hpp"

namespace joust::race {
namespace {

using std::chrono::seconds;

class CountedTurnRace : public TurnRace {};

TEST_F(CountedTurnRace, ACountOfMessagesIsATurn) {
  LoadPlan& load = scenario.cases.front().load;
  load.messages = 10;
  const RaceResult result = run();
  EXPECT_EQ(runner.world.generations, 8);
  EXPECT_EQ(result.cases.front().plan.turn.unit, TurnUnit::messages);
  EXPECT_EQ(result.cases.front().plan.turn.count, 10U);
  EXPECT_GT(entry(result, "epoll").trials.front().turns.size(), 10U);
}

// Two contestants of which one needs 3 % more time for a transfer.
TEST_F(CountedTurnRace, TransfersTakeTurnsAndAreToldApart) {
  scenario.cases.front().protocol = "files";
  runner.world.rate = {{"threads", 103e3}, {"epoll", 100e3}};
  int found = 0;
  for (int race = 0; race < 20; ++race) {
    const RaceResult result = run();
    EXPECT_EQ(result.cases.front().plan.turn.unit, TurnUnit::transfers);
    EXPECT_GE(result.cases.front().plan.turn.count, 7U) << "256 connections at 100,000/s: 20 ms";
    const Entry& slower = entry(result, "epoll");
    found += result.cases.front().ranking.pairs.front().decision == stats::Decision::differ;
    EXPECT_LT(slower.summary.ratio->median, 1);
  }
  EXPECT_GE(found, 19);
}

TEST_F(CountedTurnRace, ConnectionsThatEndByThemselvesTakeNoTurns) {
  scenario.cases.front().protocol = "files";
  scenario.cases.front().options["once"] = "yes";
  run();
  EXPECT_EQ(runner.world.generations, 0);
}

TEST_F(CountedTurnRace, LongTransfersAreMeasuredInWholeTrials) {
  scenario.cases.front().protocol = "files";
  runner.world.rate = {{"threads", 256}, {"epoll", 256}};  // a second for each transfer of 256 connections
  const RaceResult result = run();
  EXPECT_EQ(runner.world.generations, 1) << "the pilot";
  EXPECT_EQ(runner.world.turns, 0);
  EXPECT_FALSE(result.cases.front().plan.load.turns);
  EXPECT_EQ(result.cases.front().plan.load.messages, 1U) << "the duration is too short for two of them";
  EXPECT_EQ(result.rounds, 8U);
  ASSERT_EQ(entry(result, "epoll").trials.size(), 8U);
  for (const Trial& trial : entry(result, "epoll").trials) EXPECT_TRUE(trial.turns.empty());
  EXPECT_TRUE(result.complete);
}

TEST_F(CountedTurnRace, WithoutTurnsThereIsNoGoal) {
  scenario.rounds = 0;
  scenario.cases.front().protocol = "files";
  scenario.cases.front().load.duration = seconds(10);
  runner.world.rate = {{"threads", 256}, {"epoll", 256}};
  const RaceResult result = run();
  EXPECT_EQ(result.looks, 1U);
  EXPECT_EQ(result.cases.front().plan.load.duration, seconds(10)) << "as long as was asked for";
}

}  // namespace
}  // namespace joust::race
