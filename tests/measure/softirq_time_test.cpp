// SPDX-License-Identifier: MIT
#include "measure/machine_cpu.hpp"

#include <gtest/gtest.h>

#include "measure/environment.hpp"

namespace joust {
namespace {

TEST(SoftirqTime, IsWhatAClockLeavesOutOfSending) {
  EXPECT_EQ(softirq_time(0.99), kSoftirqInside);
  EXPECT_EQ(softirq_time(0.55), kSoftirqApart);
  EXPECT_EQ(softirq_time(std::nullopt), "unknown");
}

TEST(SoftirqTime, IsMeasuredOnThisMachine) {
  const auto share = counted_share_of_sending();
  ASSERT_TRUE(share);
  EXPECT_GT(*share, 0.01);
  EXPECT_LT(*share, 1.2) << "one thread has one CPU";
}

}  // namespace
}  // namespace joust
