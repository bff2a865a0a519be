// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "race/checks/checks.hpp"
#include "race/fake_catalogue.hpp"
#include "race/fake_runner.hpp"
#include "race/judgement/judge.hpp"
#include "race/run/race.hpp"

namespace joust::race {

// Runs a race of fakes, plants a fault, and asks a check.
class Checks : public testing::Test {
 protected:
  Checks() { runner.throughput = {{"threads", 30e3}, {"epoll", 68e3}, {"io-uring", 106e3}, {"other", 50e3}}; }

  RaceResult race() {
    const Plan plan = make_plan(scenario, fake_catalogue(), 1);
    RaceResult result = run_race(scenario, plan, runner, observer, stop);
    result.environment.items = {
        {"kernel", "6.1.0", true}, {"clocksource", "tsc", true}, {"governor", "unknown", true}};
    result.cpus = {.server = "0", .client = "1"};
    return result;
  }

  CheckResult check(int id) { return check(id, race()); }

  CheckResult check(int id, RaceResult result) {
    judge(result);
    judged = std::move(result);
    return *std::ranges::find(judged.cases.front().checks, id, &CheckResult::id);
  }

  static Entry& entry(RaceResult& result, const std::string& name) {
    return *std::ranges::find_if(result.cases.front().entries,
                                 [&](const Entry& each) { return each.contestant.name == name; });
  }

  static stats::Decision decision(const RaceResult& result, const std::string& a, const std::string& b) {
    return result.cases.front().ranking.of(a, b)->decision;
  }

  // Changes every trial of a contestant.
  void plant(const std::string& name, const std::function<void(Trial&)>& fault) {
    runner.alter = [=](const TrialOrder& order, std::size_t, Trial& trial) {
      if (order.entry.contestant.name == name) fault(trial);
    };
  }

  Scenario scenario = fake_scenario({"threads", "epoll", "io-uring"}, 10);
  FakeRunner runner;
  RaceObserver observer;
  Stop stop;
  RaceResult judged;
};

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace joust::race
