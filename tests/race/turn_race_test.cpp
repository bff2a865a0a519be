// SPDX-License-Identifier: MIT
//
// Races whose contestants take turns, with generations that need no processes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "race/fake_catalogue.hpp"
#include "race/fake_runner.hpp"
#include "race/race.hpp"
#include "stats/noise.hpp"

namespace joust::race {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Contestants with a rate and a cost of their own; the noise is that of a generation and of each turn.
class FakeGeneration : public Generation {
 public:
  struct World {
    std::map<std::string, double> rate, cost_us;
    double generation_noise = 0.003, turn_noise = 0.03;
    double rate_noise = 0;                     // of each generation, which the cost does not have
    std::map<std::string, double> case_noise;  // more of it in this case
    stats::Random random{1};
    int generations = 0, turns = 0;
    std::function<void(const TrialOrder&, Trial&)> alter = [](const auto&, auto&) {};
  };

  FakeGeneration(World& world, std::vector<TrialOrder> orders) : world_(world), orders_(std::move(orders)) {
    ++world_.generations;
    for (const TrialOrder& order : orders_) {
      const std::string plain =
          order.entry.contestant.name.substr(0, order.entry.contestant.name.find(" (again)"));
      const double luck = std::exp(world_.generation_noise * stats::noise::normal(world_.random));
      const double noise = world_.rate_noise + world_.case_noise[order.load_case.name];
      const double rate_luck = std::exp(noise * stats::noise::normal(world_.random));
      rates_.push_back((world_.rate.contains(plain) ? world_.rate[plain] : 5e6) * luck * rate_luck);
      costs_.push_back((world_.cost_us.contains(plain) ? world_.cost_us[plain] : 5) * luck);
    }
  }

  bool start(std::size_t) override { return true; }
  std::optional<Turn> take_turn(std::size_t contestant, Duration length, bool recorded) override {
    if (recorded) ++world_.turns;
    const double turn_s = std::chrono::duration<double>(length).count();
    turns_s_ += turn_s / static_cast<double>(orders_.size());
    const double now = std::exp(world_.turn_noise * stats::noise::normal(world_.random));
    const double messages = rates_[contestant] * turn_s * now;
    return Turn{
        .window_s = 0.8 * turn_s,
        .verified = static_cast<std::uint64_t>(0.8 * messages),
        .messages = static_cast<std::uint64_t>(messages),
        .turn_s = turn_s,
        .server_cpu_s = orders_[contestant].entry.in_process ? 0 : messages * costs_[contestant] / now / 1e6};
  }
  Trial finish(std::size_t contestant) override {
    Trial trial = flawless_trial(orders_[contestant], rates_[contestant]);
    trial.turns_s = turns_s_;
    world_.alter(orders_[contestant], trial);
    return trial;
  }

 private:
  World& world_;
  const std::vector<TrialOrder> orders_;
  std::vector<double> rates_, costs_;
  double turns_s_ = 0;
};

class TurnRunner : public FakeRunner {
 public:
  std::unique_ptr<Generation> generation(std::vector<TrialOrder> orders) override {
    return std::make_unique<FakeGeneration>(world, std::move(orders));
  }
  FakeGeneration::World world;
};

class TurnRace : public testing::Test {
 protected:
  TurnRace() {
    scenario.cases.front().protocol = "turns";
    runner.world.rate = {{"threads", 100e3}, {"epoll", 100e3}};
  }

  RaceResult run() {
    RaceResult result = run_race(scenario, make_plan(scenario, fake_catalogue(), 1), runner, observer, stop);
    judge(result);
    return result;
  }
  static const Entry& entry(const RaceResult& result, const std::string& name) {
    return *find_entry(result.cases.front(), name);
  }

  Scenario scenario = fake_scenario({"threads", "epoll"}, 8);
  TurnRunner runner;
  RaceObserver observer;
  Stop stop;
};

TEST_F(TurnRace, EveryRoundIsAGeneration) {
  const RaceResult result = run();
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(runner.world.generations, 8);
  for (const char* name : {"threads", "epoll"}) {
    ASSERT_EQ(entry(result, name).trials.size(), 8U);
    for (const Trial& trial : entry(result, name).trials) EXPECT_GT(trial.turns.size(), 10U);
  }
  EXPECT_EQ(std::ranges::count(runner.ran, "count epoll"), 1) << "calls are counted in windows of their own";
  EXPECT_EQ(std::ranges::count(runner.ran, "epoll"), 0);
}

TEST_F(TurnRace, OffMeansAWindowForEach) {
  scenario.turns = false;
  const RaceResult result = run();
  EXPECT_EQ(runner.world.generations, 0);
  EXPECT_EQ(entry(result, "epoll").trials.size(), 8U);
}

TEST_F(TurnRace, ACountOfMessagesOrAScheduleTakesNoTurns) {
  LoadPlan& load = scenario.cases.front().load;
  load.interval = milliseconds(1);
  run();
  EXPECT_EQ(runner.world.generations, 0);
  load.interval = {};
  load.duration.reset();
  load.messages = 10;
  run();
  EXPECT_EQ(runner.world.generations, 0);
}

TEST_F(TurnRace, ARateTakesTurnsUnlessItIsLow) {
  LoadPlan& load = scenario.cases.front().load;
  load.send_at_rate(5000);
  run();
  EXPECT_EQ(runner.world.generations, 8);
  load.send_at_rate(19);
  run();
  EXPECT_EQ(runner.world.generations, 8) << "the longest turn would have nine messages";
}

// A burst that falls into ramps would never be measured.
TEST_F(TurnRace, BurstsAreMeasuredInWindowsOfTheirOwn) {
  LoadPlan& load = scenario.cases.front().load;
  load.send_at_rate(5000);
  load.phase = "together";
  run();
  EXPECT_EQ(runner.world.generations, 0);
}

TEST_F(TurnRace, ARaceByTimeHasEnoughSamplesForAPercentile) {
  scenario.rounds = 0;
  scenario.cases.front().load.connections = 100;
  scenario.cases.front().load.send_at_rate(2500);
  scenario.time = seconds(12);
  const Plan plan = make_plan(scenario, fake_catalogue(), 1);
  EXPECT_EQ(plan.cases.front().plan.load.duration, milliseconds(800)) << "2,000 messages";
}

TEST_F(TurnRace, EndsWhenItIsPreciseEnough) {
  scenario.rounds = 0;
  const RaceResult result = run();
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(result.looks, 3U);
  EXPECT_GE(result.rounds, 5U);
  EXPECT_LT(result.rounds, 20U) << "the noise of a generation is a tenth of what is asked for";
}

// A lower bound that is known more precisely is still one.
TEST_F(TurnRace, WhereTheClientIsTheLimitCostsAreToBePrecise) {
  scenario.rounds = 0;
  scenario.time = seconds(4);
  runner.world.rate_noise = 0.2;
  runner.world.alter = [](const TrialOrder& order, Trial& trial) {
    if (order.entry.in_process) return;
    trial.load->usage = {.user_s = 0.99 * trial.turns_s};
    trial.server.usage = Usage{.user_s = 0.5 * trial.turns_s};
  };
  const RaceResult result = run();
  EXPECT_TRUE(entry(result, "epoll").at_least);
  EXPECT_GE(result.rounds, 5U);
  EXPECT_LT(result.rounds, 20U);
  EXPECT_GT(result.cases.front().least_difference, 0.1) << "throughput is as noisy as it was";
}

TEST_F(TurnRace, EndsWhenItsTimeIsOver) {
  scenario.rounds = 0;
  scenario.time = milliseconds(1);
  EXPECT_EQ(run().rounds, 1U) << "the first round is always run";
}

TEST_F(TurnRace, ACaseThatIsPreciseEnoughRunsNoMore) {
  scenario.rounds = 0;
  scenario.time = seconds(4);
  scenario.cases.push_back(scenario.cases.front());
  scenario.cases.back().name = "noisy";
  runner.world.case_noise["noisy"] = 0.5;
  const RaceResult result = run();
  const std::size_t calm = find_entry(result.cases[0], "epoll")->trials.size();
  const std::size_t noisy = find_entry(result.cases[1], "epoll")->trials.size();
  EXPECT_GE(calm, 5U);
  EXPECT_LT(calm, 20U);
  EXPECT_GT(noisy, 2 * calm);
  const auto check = std::ranges::find(result.cases[0].checks, 8, &CheckResult::id);
  EXPECT_EQ(check->detail.find("rounds have a result"), std::string::npos) << check->detail;
}

// Two generations of the slow case take longer than its part of the time.
TEST_F(TurnRace, CasesShareTheTimeOfTheRace) {
  scenario.rounds = 0;
  scenario.time = milliseconds(3600);  // 1600 ms of it are for counting system calls
  scenario.cases.push_back(scenario.cases.front());
  scenario.cases.back().name = "slow";
  runner.world.rate_noise = runner.world.turn_noise = 0.5;
  runner.world.alter = [](const TrialOrder& order, Trial&) {
    const bool once = order.load_case.name == "slow" && order.entry.contestant.name == "epoll";
    if (once) std::this_thread::sleep_for(milliseconds(700));
  };
  const RaceResult result = run();
  const std::size_t quick = find_entry(result.cases[0], "epoll")->trials.size();
  const std::size_t slow = find_entry(result.cases[1], "epoll")->trials.size();
  EXPECT_GE(slow, 1U);
  EXPECT_GT(quick, slow);
}

// 3 % more CPU time per message, which throughput does not show.
TEST_F(TurnRace, APlantedCostIsFoundAndNeverWithTheWrongSign) {
  runner.world.cost_us = {{"threads", 5.0}, {"epoll", 5.15}};
  int found = 0;
  for (int race = 0; race < 20; ++race) {
    const RaceResult result = run();
    const Entry& dearer = entry(result, "epoll");
    found += dearer.cost_told_apart;
    EXPECT_GT(dearer.summary.cost_ratio->median, 1);
    EXPECT_FALSE(dearer.told_apart);
  }
  EXPECT_GE(found, 19);
}

TEST_F(TurnRace, EqualContestantsAreNotToldApart) {
  for (int race = 0; race < 30; ++race) {
    const RaceResult result = run();
    EXPECT_FALSE(entry(result, "epoll").told_apart);
    EXPECT_FALSE(entry(result, "epoll").cost_told_apart);
  }
}

TEST_F(TurnRace, AServerThatWorksWhileItIsStoppedIsSeen) {
  runner.world.alter = [](const TrialOrder& order, Trial& trial) {
    if (order.entry.contestant.name == "epoll") trial.cpu_s_at_rest = 0.5;
  };
  const RaceResult result = run();
  const auto check = std::ranges::find(result.cases.front().checks, 7, &CheckResult::id);
  EXPECT_EQ(check->verdict, Verdict::warn);
  EXPECT_NE(check->detail.find("epoll: its server used"), std::string::npos) << check->detail;
}

}  // namespace
}  // namespace joust::race
