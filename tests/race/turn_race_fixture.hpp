// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "race/fake_catalogue.hpp"
#include "race/fake_runner.hpp"
#include "race/judgement/judge.hpp"
#include "race/run/race.hpp"
#include "stats/noise.hpp"

// Races whose contestants take turns, with generations that need no processes.
namespace joust::race {

// Contestants with a rate and a cost of their own; the noise is that of a generation and of each turn.
class FakeGeneration : public Generation {
 public:
  struct World {
    std::map<std::string, double> rate, cost_us;
    double generation_noise = 0.003, turn_noise = 0.03;
    double rate_noise = 0;                     // of each generation, which the cost does not have
    std::map<std::string, double> case_noise;  // more of it in this case
    std::map<std::string, double> stalls;      // share of the turns in which half of the time is lost
    std::map<std::string, double> bursts;      // share of the turns in which a message costs twice as much
    double disturbed = 0;                      // share of the turns in which the machine is half as fast
    std::map<std::string, double> slows_next;  // share by which the turn after one of these is slower
    double first_is_slower = 0;                // share by which the first turn of a round is slower
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
      names_.push_back(plain);
      rates_.push_back((world_.rate.contains(plain) ? world_.rate[plain] : 5e6) * luck * rate_luck);
      costs_.push_back((world_.cost_us.contains(plain) ? world_.cost_us[plain] : 5) * luck);
    }
  }

  bool start(std::size_t) override { return true; }
  std::optional<Turn> take_turn(std::size_t contestant, TurnSize size, bool recorded) override {
    if (recorded) ++world_.turns;
    const bool first = recorded && recorded_++ % orders_.size() == 0;
    const double late =
        world_.slows_next[std::exchange(before_, names_[contestant])] + (first ? world_.first_is_slower : 0);
    const auto connections = static_cast<double>(orders_[contestant].load_case.load.connections);
    const double turn_s = size.messages > 0
                              ? static_cast<double>(size.messages) * connections / rates_[contestant]
                              : std::chrono::duration<double>(size.time).count();
    turns_s_ += turn_s / static_cast<double>(orders_.size());
    const double now = std::exp(world_.turn_noise * stats::noise::normal(world_.random));
    const double lost = draw(world_.stalls[names_[contestant]]) + draw(world_.disturbed);
    const double messages = rates_[contestant] * turn_s * now / std::exp2(lost) * (1 - late);
    const double cost_us =
        costs_[contestant] * std::exp2(draw(world_.bursts[names_[contestant]])) / (1 - late);
    return Turn{.window_s = 0.8 * turn_s,
                .verified = static_cast<std::uint64_t>(0.8 * messages),
                .messages = static_cast<std::uint64_t>(messages),
                .turn_s = turn_s,
                .server_cpu_s = orders_[contestant].entry.in_process ? 0 : messages * cost_us / now / 1e6};
  }
  Trial finish(std::size_t contestant) override {
    Trial trial = flawless_trial(orders_[contestant], rates_[contestant]);
    trial.turns_s = turns_s_;
    world_.alter(orders_[contestant], trial);
    return trial;
  }

 private:
  // Returns 1 with this probability, or else 0.
  double draw(double probability) {
    return probability > 0 && stats::noise::uniform(world_.random) < probability ? 1 : 0;
  }

  World& world_;
  const std::vector<TrialOrder> orders_;
  std::vector<std::string> names_;
  std::vector<double> rates_, costs_;
  double turns_s_ = 0;
  std::string before_;        // the contestant of the last turn
  std::size_t recorded_ = 0;  // turns so far
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

}  // namespace joust::race
