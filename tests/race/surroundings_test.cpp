// SPDX-License-Identifier: MIT
#include "race/trial/surroundings.hpp"

#include <gtest/gtest.h>

#include "race/figures/disturbance.hpp"

namespace joust::race {
namespace {

TEST(PinnedCpus, AreThoseOfBothSides) {
  EXPECT_EQ(pinned_cpus({.server = "0-1", .client = "3"}, false), (std::vector<int>{0, 1, 3}));
  EXPECT_EQ(pinned_cpus({.server = "0-1", .client = "3"}, true), (std::vector<int>{3}));
  EXPECT_TRUE(pinned_cpus({.server = "any", .client = "3"}, false).empty());
  EXPECT_TRUE(pinned_cpus({.server = "0", .client = "any"}, false).empty());
  EXPECT_TRUE(pinned_cpus({.server = "0", .client = "any"}, true).empty());
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
  note_surroundings(before, after, trial);
  EXPECT_DOUBLE_EQ(trial.machine->steal_s, 0);
  EXPECT_DOUBLE_EQ(trial.pinned->steal_s, 0.25);
  EXPECT_EQ(trial.throttled->times, 1U);
  EXPECT_DOUBLE_EQ(trial.clock->least_mhz, 2000);
  EXPECT_DOUBLE_EQ(trial.clock->most_mhz, 3500);
  note_surroundings(before, after, trial);
  EXPECT_EQ(trial.throttled->times, 2U) << "turns add up";
  after.throttled.reset();
  Trial another;
  note_surroundings(before, after, another);
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

}  // namespace
}  // namespace joust::race
