// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "race/fake_catalogue.hpp"
#include "race/fake_runner.hpp"
#include "race/run/race.hpp"

namespace joust::race {
namespace {

class RaceOfWholeTrials : public testing::Test {
 protected:
  RaceResult run() {
    return run_race(scenario, make_plan(scenario, fake_catalogue(), 1), runner, observer, stop);
  }

  Scenario scenario = fake_scenario({"threads", "epoll"});
  FakeRunner runner;
  RaceObserver observer;
  Stop stop;
};

TEST_F(RaceOfWholeTrials, EndsWhenItsTimeIsOver) {
  scenario.rounds = 0;
  EXPECT_EQ(run().rounds, kStandardRounds);
  scenario.time = std::chrono::milliseconds(1);
  scenario.few_rounds = true;
  EXPECT_EQ(run().rounds, kQuickRounds) << "a quick race of whole trials";
  scenario.few_rounds = false;
  EXPECT_EQ(run().rounds, 1U) << "the first round is always run";
  scenario.cases.front().load.messages = 1;
  EXPECT_EQ(run().rounds, 1U);
  scenario.rounds = 4;
  EXPECT_EQ(run().rounds, 4U) << "a number of rounds has no time";
}

TEST_F(RaceOfWholeTrials, WithoutTimeADisturbedRoundIsNotRunAgain) {
  scenario.rounds = 0;
  scenario.time = std::chrono::milliseconds(1);
  runner.alter = [](const TrialOrder&, std::size_t, Trial& trial) {
    trial.machine->steal_s = trial.machine->total_s() / 4;
  };
  EXPECT_EQ(run().rounds_again, 0U);
}

}  // namespace
}  // namespace joust::race
