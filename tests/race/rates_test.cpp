// SPDX-License-Identifier: MIT
#include "race/set_up/rates.hpp"
#include "race/figures/summary.hpp"
#include "race/judgement/judge.hpp"

#include <gtest/gtest.h>

#include "race/fake_catalogue.hpp"
#include "race/fake_runner.hpp"
#include "race/run/race.hpp"
#include "race/scenario/overrides.hpp"

namespace joust::race {
namespace {

class Rates : public testing::Test {
 protected:
  Rates() {
    EXPECT_TRUE(apply({.servers = {}, .clients = {}, .rates = "30%,90%,1k"}, scenario, fake_catalogue()));
  }

  RaceResult run(const Scenario& raced, const Plan& plan) {
    return run_race(raced, plan, runner, observer, stop);
  }
  RaceResult pilot() {
    const Scenario first = capacity_race(scenario);
    return run(first, make_pilot(first, fake_catalogue(), 1));
  }

  Scenario scenario = fake_scenario({"threads", "epoll", "broken"}, 3);
  FakeRunner runner;
  RaceObserver observer;
  Stop stop;
};

TEST_F(Rates, EachIsACaseOfItsOwn) {
  ASSERT_EQ(scenario.cases.size(), 3U);
  EXPECT_EQ(scenario.cases[0].name, "30%");
  EXPECT_EQ(scenario.cases[0].rate_share, 0.3);
  EXPECT_FALSE(scenario.cases[0].load.open_loop()) << "not known yet";
  EXPECT_EQ(scenario.cases[2].name, "1000");
  EXPECT_EQ(scenario.cases[2].load.rate_per_s, 1000.0);
  EXPECT_TRUE(needs_capacity(scenario));
  scenario.cases.erase(scenario.cases.begin(), scenario.cases.begin() + 2);
  EXPECT_FALSE(needs_capacity(scenario)) << "no share is left";
  EXPECT_TRUE(wants_capacity(scenario)) << "turns may not suit the rate";
  scenario.turn = std::chrono::milliseconds(200);
  EXPECT_FALSE(wants_capacity(scenario)) << "turns are asked for";
  scenario.turn.reset();
  scenario.turns = false;
  EXPECT_FALSE(wants_capacity(scenario));
}

TEST_F(Rates, OfSeveralCasesHaveTheirNames) {
  Scenario two = fake_scenario({"threads"});
  two.cases.push_back(two.cases.front());
  two.cases.back().name = "small";
  two.cases.back().rates = {{.share = 0.5}};
  expand_rates(two);
  ASSERT_EQ(two.cases.size(), 2U);
  EXPECT_EQ(two.cases[0].name, "main");
  EXPECT_EQ(two.cases[1].name, "small 50%");
}

TEST_F(Rates, ThePilotIsOneShortClosedLoopOfTheContestants) {
  runner.throughput = {{"threads", 45'678}, {"epoll", 70e3}};
  const RaceResult result = pilot();
  EXPECT_EQ(runner.ran.size(), 2U) << "once each, without a ceiling, a second entry or a pass that counts";
  ASSERT_EQ(result.cases.size(), 1U);
  EXPECT_FALSE(result.cases.front().plan.load.open_loop());
}

TEST_F(Rates, AreSharesOfWhatTheSlowestAnswers) {
  runner.wobble = {0};
  runner.throughput = {{"threads", 45'678}, {"epoll", 70e3}};
  set_rates(scenario, capacities_of(pilot()));
  EXPECT_FALSE(needs_capacity(scenario));
  EXPECT_EQ(scenario.cases[0].load.rate_per_s, 13'700.0) << "three digits of 13,703";
  EXPECT_EQ(scenario.cases[1].load.rate_per_s, 41'100.0);
  EXPECT_EQ(scenario.cases[2].load.rate_per_s, 1000.0);
  ASSERT_TRUE(scenario.cases[0].capacity);
  EXPECT_EQ(scenario.cases[0].capacity->contestant, "threads");
  EXPECT_EQ(scenario.cases[0].capacity->per_s, 45'678);
  EXPECT_EQ(scenario.cases[2].capacity->per_s, 45'678);
  EXPECT_EQ(scenario.cases[0].capacity->measured.at("threads"), 45'678);
  EXPECT_EQ(scenario.cases[0].capacity->measured.size(), 2U) << "both contestants";
  EXPECT_FALSE(wants_capacity(scenario));
}

// Turns begin without a queue, so their p99 is too small where queues are long.
TEST_F(Rates, NearTheCapacityAreMeasuredInWholeTrials) {
  for (Case& one : scenario.cases) one.protocol = "turns";
  const auto in_turns = [&] {
    std::vector<bool> turns;
    for (const CaseResult& one : make_plan(scenario, fake_catalogue(), 1).cases)
      turns.push_back(one.plan.load.turns);
    return turns;
  };
  const std::map<std::string, Capacity> capacities{{"main", {.per_s = 1400, .contestant = "threads"}}};
  set_rates(scenario, capacities);
  EXPECT_EQ(in_turns(), (std::vector{true, false, false})) << "30 %, 90 %, 1,000/s of 1,400/s";
  scenario.turn = std::chrono::milliseconds(200);
  EXPECT_EQ(in_turns(), std::vector(3, true)) << "they are asked for";
}

TEST_F(Rates, OfWhichTheCapacityIsNotKnownTakeTurns) {
  scenario.cases.erase(scenario.cases.begin(), scenario.cases.begin() + 2);
  scenario.cases.front().protocol = "turns";
  set_rates(scenario, {});
  EXPECT_TRUE(make_plan(scenario, fake_catalogue(), 1).cases.front().plan.load.turns);
}

TEST_F(Rates, SmallOnesKeepThreeDigitsToo) {
  set_rates(scenario, {{"main", {.per_s = 1.2345, .contestant = "threads"}}});
  EXPECT_EQ(scenario.cases[0].load.rate_per_s, 0.37);
}

TEST_F(Rates, WithoutAnAnswerStayUnknown) {
  runner.alter = [](const TrialOrder&, std::size_t, Trial& trial) { trial.failure = "it crashed"; };
  set_rates(scenario, capacities_of(pilot()));
  EXPECT_TRUE(needs_capacity(scenario));
}

TEST_F(Rates, HaveVerdictsOfTheirOwn) {
  runner.throughput = {{"threads", 50e3}, {"epoll", 70e3}};
  set_rates(scenario, capacities_of(pilot()));
  RaceResult result = run(scenario, make_plan(scenario, fake_catalogue(), 1));
  judge(result);
  ASSERT_EQ(result.cases.size(), 3U);
  EXPECT_TRUE(result.cases[0].verdict.starts_with("At 15,")) << result.cases[0].verdict;
  EXPECT_TRUE(result.cases[2].verdict.starts_with("At 1,000 messages/s: ")) << result.cases[2].verdict;
}

}  // namespace
}  // namespace joust::race
