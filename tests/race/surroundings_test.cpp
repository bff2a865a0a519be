// SPDX-License-Identifier: MIT
#include "race/trial/surroundings.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "race/figures/disturbance.hpp"

namespace joust::race {
namespace {

using Cpus = std::vector<int>;

TEST(PinnedCpus, AreThoseOfBothSidesAndOfEach) {
  const PinnedCpus apart = pinned_cpus({.server = "0-1", .client = "3"}, false);
  EXPECT_EQ(apart.all, (Cpus{0, 1, 3}));
  EXPECT_EQ(apart.server, (Cpus{0, 1}));
  EXPECT_EQ(apart.client, Cpus{3});
  const PinnedCpus shared = pinned_cpus({.server = "0-1", .client = "1"}, false);
  EXPECT_EQ(shared.all, (Cpus{0, 1}));
  EXPECT_TRUE(shared.server.empty()) << "what is used there is of both";
  EXPECT_EQ(pinned_cpus({.server = "0-1", .client = "3"}, true).all, Cpus{3});
  EXPECT_TRUE(pinned_cpus({.server = "any", .client = "3"}, false).all.empty());
  EXPECT_TRUE(pinned_cpus({.server = "0", .client = "any"}, false).all.empty());
  EXPECT_TRUE(pinned_cpus({.server = "0", .client = "any"}, true).all.empty());
}

TEST(SurroundingsOfATrial, AreTheDifferenceOfBothEnds) {
  const Surroundings before{.machine = MachineCpu{.steal_s = 1},
                            .pinned = MachineCpu{.steal_s = 0.5},
                            .throttled = Throttling{.times = 3, .time_s = 1},
                            .clock = ClockRates{.least_mhz = 2000, .most_mhz = 3000}};
  Surroundings after = before;
  after.pinned->steal_s = 0.75;
  after.throttled->times = 4;
  after.clock = ClockRates{.least_mhz = 2500, .most_mhz = 3500};
  Trial trial;
  note_surroundings(window_of(before, after), trial);
  EXPECT_DOUBLE_EQ(trial.machine->steal_s, 0);
  EXPECT_DOUBLE_EQ(trial.pinned->steal_s, 0.25);
  EXPECT_EQ(trial.throttled->times, 1U);
  EXPECT_DOUBLE_EQ(trial.clock->least_mhz, 2000);
  EXPECT_DOUBLE_EQ(trial.clock->most_mhz, 3500);
  note_surroundings(window_of(before, after), trial);
  EXPECT_EQ(trial.throttled->times, 2U) << "turns add up";
  after.throttled.reset();
  Trial another;
  note_surroundings(window_of(before, after), another);
  EXPECT_FALSE(another.throttled) << "one end alone says nothing";
}

TEST(Disturbances, AKnownDisturbanceIsWorseThanALateObserver) {
  Trial late, quota, stolen;
  late.late = true;
  quota.throttled = Throttling{.times = 1};
  stolen.machine = MachineCpu{.user_s = 0.92, .steal_s = 0.08};
  EXPECT_GT(disturbance_of(late, false).severity, 1);
  EXPECT_GT(disturbance_of(quota, false).severity, disturbance_of(late, false).severity);
  EXPECT_GT(disturbance_of(stolen, false).severity, disturbance_of(quota, false).severity);
}

TEST(Disturbances, OfThePinnedCpusCountsNotThatOfOthers) {
  Trial trial;
  trial.machine = MachineCpu{.user_s = 2, .idle_s = 62};
  trial.pinned = MachineCpu{.user_s = 1.8, .steal_s = 0.2};
  EXPECT_DOUBLE_EQ(disturbance_of(trial, true).severity, 0.1 / kDisturbedSteal);
  EXPECT_EQ(disturbance_of(trial, true).what, "lost 10 % of its CPUs to other virtual machines on this host");
  trial.pinned = MachineCpu{.user_s = 2};
  trial.machine->steal_s = 60;
  EXPECT_EQ(disturbance_of(trial, true).severity, 0);
}

// A machine of 64 CPUs, of which each side has one for a second.
Trial on_a_large_machine(double of_server_s, double busy_there_s) {
  Trial trial;
  trial.load.emplace();
  trial.load->set_usage({.user_s = 0.5, .system_s = 0.4});
  trial.server.usage = Usage{.user_s = of_server_s / 2, .system_s = of_server_s / 2};
  trial.machine = MachineCpu{.user_s = 0.9 + busy_there_s, .idle_s = 63.1 - busy_there_s};
  trial.pinned = MachineCpu{.user_s = 0.9 + busy_there_s, .idle_s = 1.1 - busy_there_s};
  trial.server_cpus = MachineCpu{.user_s = busy_there_s, .idle_s = 1 - busy_there_s};
  trial.client_cpus = MachineCpu{.user_s = 0.9, .idle_s = 0.1};
  return trial;
}

TEST(Disturbances, AnIntruderOnTheServersCpuIsSeenHoweverLargeTheMachineIs) {
  const Disturbance intruded = disturbance_of(on_a_large_machine(0.5, 1), false);
  EXPECT_GT(intruded.severity, 4);
  EXPECT_EQ(intruded.what, "had 49 % of the server's CPUs used by other processes");
  EXPECT_LT(disturbance_of(on_a_large_machine(0.9, 1), false).severity, 1) << "less than a tenth is certain";
  EXPECT_EQ(disturbance_of(on_a_large_machine(0.9, 0.9), false).severity, 0);
}

TEST(Disturbances, ManyShortTurnsAreJudgedWithTheErrorOfTheirTicks) {
  Trial trial = on_a_large_machine(0.85, 1);
  EXPECT_GT(disturbance_of(trial, false).severity, 1);
  trial.turns.resize(50);
  EXPECT_LT(disturbance_of(trial, false).severity, 1);
}

}  // namespace
}  // namespace joust::race
