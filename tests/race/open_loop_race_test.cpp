// SPDX-License-Identifier: MIT
//
// Races at a given rate, of fakes.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "race/fake_catalogue.hpp"
#include "race/fake_runner.hpp"
#include "race/run/race.hpp"

namespace joust::race {
namespace {

class OpenLoopRace : public testing::Test {
 protected:
  OpenLoopRace() { scenario.cases.front().load.rate_per_s = 5000; }

  RaceResult run() {
    return run_race(scenario, make_plan(scenario, fake_catalogue(), 1), runner, observer, stop);
  }

  Scenario scenario = fake_scenario({"threads", "epoll", "io-uring"});
  FakeRunner runner;
  RaceObserver observer;
  Stop stop;
};

// All arrivals being the same in every round, a race would measure one sample of them again and again.
TEST_F(OpenLoopRace, ArrivalsDifferFromRoundToRoundAndAreTheSameForAll) {
  scenario.cases.front().load.arrivals = LoadPlan::Arrivals::poisson;
  std::map<std::string, std::vector<std::uint64_t>> seeds;
  runner.alter = [&](const TrialOrder& order, std::size_t, Trial&) {
    if (!order.count_calls) seeds[order.entry.contestant.name].push_back(order.load_case.load.seed);
  };
  run();
  const auto first = seeds["epoll"];
  EXPECT_EQ(first.size(), 5U);
  EXPECT_EQ(std::set(first.begin(), first.end()).size(), 5U);
  for (const char* name : {"threads", "threads (again)", "io-uring"}) EXPECT_EQ(seeds[name], first) << name;
  seeds.clear();
  run();
  EXPECT_EQ(seeds["epoll"], first) << "the seed of the race repeats them";
}

}  // namespace
}  // namespace joust::race
