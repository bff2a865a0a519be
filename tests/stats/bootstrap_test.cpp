// SPDX-License-Identifier: MIT
#include "stats/bootstrap.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "stats/random.hpp"

namespace joust::stats {
namespace {

using Values = std::vector<double>;

// Skewed like throughputs and latencies are: exponential, its median is ln 2.
Values skewed(std::size_t count, Random& random) {
  Values values(count);
  for (double& value : values) value = -std::log((static_cast<double>(random() >> 11) + 0.5) * 0x1p-53);
  return values;
}

TEST(Bootstrap, TheSameSeedGivesTheSameInterval) {
  const Values sample = {3, 1, 4, 1.5, 9, 2.6, 5};
  EXPECT_EQ(median_interval(sample, {.seed = 7}), median_interval(sample, {.seed = 7}));
}

TEST(Bootstrap, AnIntervalLiesWithinTheSampleAndHoldsItsMedian) {
  const Values sample = {10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
  const Interval interval = median_interval(sample, {.seed = 1});
  // Of all resamples' medians 0.7 % are below 12 and 5.1 % at most 12 (binomial); the same holds from above.
  EXPECT_DOUBLE_EQ(interval.low, 12);
  EXPECT_DOUBLE_EQ(interval.high, 18);
}

TEST(Bootstrap, HoldsTheTrueMedianAboutAsOftenAsItSays) {
  Random random(42);
  constexpr int kSamples = 500;
  int held = 0;
  for (int i = 0; i < kSamples; ++i) {
    const Interval interval =
        median_interval(skewed(25, random), {.seed = static_cast<std::uint64_t>(i), .resamples = 400});
    held += interval.overlaps({std::log(2.0), std::log(2.0)}) ? 1 : 0;
  }
  EXPECT_GE(held, 455);  // of 500; the percentile bootstrap of a median is a little short of 95 %
  EXPECT_LE(held, 492);
}

TEST(Bootstrap, MoreConfidenceIsWider) {
  Random random(5);
  const Values sample = skewed(30, random);
  const double half = median_interval(sample, {.seed = 1, .confidence = 0.5}).width();
  const double most = median_interval(sample, {.seed = 1, .confidence = 0.95}).width();
  EXPECT_LT(half, most);
}

TEST(Bootstrap, OneValueTellsNothingAboutItsSpread) {
  for (const Values& sample : {Values{}, Values{5}}) {
    const Interval interval = median_interval(sample, {.seed = 1});
    EXPECT_FALSE(interval.is_known());
    EXPECT_TRUE(interval.overlaps({1e300, 1e300}));
  }
}

TEST(Bootstrap, EqualValuesGiveAnIntervalOfNoWidth) {
  EXPECT_EQ(median_interval(Values{5, 5, 5}, {.seed = 1}), (Interval{5, 5}));
}

TEST(Interval, OverlapIncludesTheEnds) {
  EXPECT_TRUE((Interval{1, 2}.overlaps({2, 3})));
  EXPECT_TRUE((Interval{1, 4}.overlaps({2, 3})));
  EXPECT_FALSE((Interval{1, 2}.overlaps({2.1, 3})));
  EXPECT_FALSE((Interval{2.1, 3}.overlaps({1, 2})));
}

TEST(GreatestConfidence, TakesSixValuesFor95PerCent) {
  EXPECT_DOUBLE_EQ(greatest_confidence(0), 0);
  EXPECT_DOUBLE_EQ(greatest_confidence(1), 0);
  EXPECT_DOUBLE_EQ(greatest_confidence(5), 0.9375);
  EXPECT_GT(greatest_confidence(6), 0.95);
}

}  // namespace
}  // namespace joust::stats
