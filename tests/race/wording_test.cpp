// SPDX-License-Identifier: MIT
#include "race/figures/wording.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace joust::race {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(RatioWords, KeepTwoSignificantDigits) {
  EXPECT_EQ(ratio_words(1.037, 2), "1.04");
  EXPECT_EQ(ratio_words(0.51, 2), "0.51");
  EXPECT_EQ(ratio_words(0.0517, 2), "0.052");
  EXPECT_EQ(ratio_words(0.000348, 2), "0.00035");
  EXPECT_EQ(ratio_words(0.000348, 3), "0.00035");
  EXPECT_EQ(ratio_words(0.6664, 3), "0.666");
}

TEST(RatioWords, HaveNoMoreDigitsThanTheySay) {
  EXPECT_EQ(ratio_words(28.43, 2), "28.4");
  EXPECT_EQ(ratio_words(284.3, 2), "284");
  EXPECT_EQ(ratio_words(2875.454, 3), "2875");
}

TEST(RatioWords, SayWhatIsNotKnown) {
  EXPECT_EQ(ratio_words(0, 2), "not known");
  EXPECT_EQ(ratio_words(kInfinity, 2), "not known");
  EXPECT_EQ(ratio_words(std::numeric_limits<double>::quiet_NaN(), 2), "not known");
}

TEST(IntervalWords, HaveEndsAsTheyAre) {
  EXPECT_EQ(interval_words({0.976, 1.0371}, 2), "0.98 to 1.04");
  EXPECT_EQ(interval_words({2043.419, 4046}, 3), "2043 to 4046");
  EXPECT_EQ(interval_words({0.00031, 0.00039}, 2), "0.00031 to 0.00039");
  EXPECT_EQ(interval_words({17, 3000}, 2), "17.0 to 3000") << "at least 17 times as much is worth a word";
}

TEST(IntervalWords, SayThatNothingIsKnown) {
  EXPECT_EQ(interval_words({}, 2), "not known");
  EXPECT_EQ(interval_words({0.0001, 400}, 2), "not known");
  EXPECT_EQ(interval_words({0.0001, 1.2}, 2), "0.00010 to 1.20");
}

TEST(RatioWithInterval, HasWhatItIsOfBetweenBoth) {
  const stats::Ratio ratio{.estimate = 1.0371, .interval = {.low = 0.976, .high = 1.104}};
  EXPECT_EQ(ratio_with_interval(ratio, 2), "1.04 (0.98 to 1.10)");
  EXPECT_EQ(ratio_with_interval(ratio, 3, "x the throughput"), "1.037x the throughput (0.976 to 1.104)");
  EXPECT_EQ(ratio_with_interval({.estimate = 1.5}, 2), "1.50 (not known)");
}

}  // namespace
}  // namespace joust::race
