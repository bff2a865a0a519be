// SPDX-License-Identifier: MIT
#include "measure/histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "distribution.hpp"

namespace joust {
namespace {

using test::distribution_of;
using Bucket = Distribution::Bucket;

Distribution of(const std::vector<std::uint64_t>& values) {
  Histogram histogram;
  for (const std::uint64_t value : values) histogram.record(value);
  return histogram.distribution();
}

// Latencies as they come: most near 20 us, a long tail up to minutes.
std::vector<std::uint64_t> latencies(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> values(count);
  for (std::uint64_t& value : values) value = 20'000 + (random() >> (24 + random() % 40));
  return values;
}

TEST(Histogram, EmptyAnswersZeroAndNothing) {
  const Distribution empty = Histogram().distribution();
  EXPECT_EQ(empty.count(), 0u);
  EXPECT_EQ(empty.min(), 0u);
  EXPECT_EQ(empty.max(), 0u);
  EXPECT_EQ(empty.mean(), 0.0);
  EXPECT_EQ(empty.value_at(0.99), 0u);
  EXPECT_EQ(empty.percentile(0.5), std::nullopt);
  EXPECT_TRUE(empty.few_beyond(0.5));
  EXPECT_TRUE(empty.buckets().empty());
}

TEST(Histogram, BucketEdgesAreThoseOfHdrHistogramWithThreeDigits) {
  // Lowest and highest equivalent values as HdrHistogram gives them for 3 significant digits.
  const std::vector<Bucket> expected{
      {0, 0, 1},
      {1, 1, 1},
      {2047, 2047, 1},
      {2048, 2049, 2},
      {4094, 4095, 1},
      {4096, 4099, 1},
      {9'994'240, 10'002'431, 1},
      {Histogram::kHighestTrackable_ns - 0x7fffffff, Histogram::kHighestTrackable_ns, 1}};
  EXPECT_EQ(of({0, 1, 2047, 2048, 2049, 4095, 4096, 10'000'000, Histogram::kHighestTrackable_ns}).buckets(),
            expected);
}

TEST(Histogram, EveryPowerOfTwoStartsABucket) {
  for (unsigned bit = 0; bit < 42; ++bit) {
    const std::uint64_t power = std::uint64_t{1} << bit;
    const auto buckets = of({power - 1, power}).buckets();
    ASSERT_EQ(buckets.size(), 2u) << "at 2^" << bit;
    EXPECT_EQ(buckets[0].high_ns, power - 1);
    EXPECT_EQ(buckets[1].low_ns, power);
  }
}

TEST(Histogram, QuantilesOfOneToTenThousand) {
  std::vector<std::uint64_t> values(10'000);
  std::iota(values.begin(), values.end(), std::uint64_t{1});
  const Distribution histogram = of(values);
  EXPECT_EQ(histogram.count(), 10'000u);
  EXPECT_EQ(histogram.min(), 1u);
  EXPECT_EQ(histogram.max(), 10'000u);
  EXPECT_DOUBLE_EQ(histogram.mean(), 5000.5);
  EXPECT_EQ(histogram.value_at(0), 1u);
  EXPECT_EQ(histogram.value_at(0.07), 700u);   // below 2048 every value has its bucket
  EXPECT_EQ(histogram.value_at(0.5), 5003u);   // the bucket is 5000..5003
  EXPECT_EQ(histogram.value_at(0.99), 9903u);  // 9896..9903
  EXPECT_EQ(histogram.value_at(1), 10'000u);   // its bucket ends at 10007, but no value does
}

TEST(Histogram, AQuantileIsAtMostATenthOfAPercentAboveTheTrueValue) {
  std::vector<std::uint64_t> values = latencies(20'000, 1);
  const Distribution histogram = of(values);
  std::ranges::sort(values);
  for (const double quantile : {0.0, 0.01, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999, 1.0}) {
    const auto rank = std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(quantile * 20'000 - 1e-6)));
    const std::uint64_t truth = std::min(values[rank - 1], Histogram::kHighestTrackable_ns);
    EXPECT_GE(histogram.value_at(quantile), truth) << quantile;
    EXPECT_LE(static_cast<double>(histogram.value_at(quantile)), static_cast<double>(truth) * 1.001)
        << quantile;
  }
}

TEST(Histogram, ValuesAboveTheRangeAreCounted) {
  const Distribution histogram = of({5, Histogram::kHighestTrackable_ns + 1, std::uint64_t{1} << 50});
  EXPECT_EQ(histogram.count(), 3u);
  EXPECT_EQ(histogram.max(), std::uint64_t{1} << 50);
  EXPECT_EQ(histogram.value_at(0.99), Histogram::kHighestTrackable_ns);
}

TEST(Histogram, MergingEqualsRecordingEverythingInOne) {
  const auto first = latencies(5000, 2), second = latencies(3000, 3), third = latencies(1, 4);
  std::vector<std::uint64_t> all(first);
  all.insert(all.end(), second.begin(), second.end());
  all.insert(all.end(), third.begin(), third.end());

  Distribution left = of(first);  // (first + second) + third
  left.merge(of(second));
  left.merge(of(third));
  Distribution right = of(second);  // first + (second + third), from an empty one
  right.merge(of(third));
  Distribution outer;
  outer.merge(of(first));
  outer.merge(right);

  EXPECT_EQ(left, of(all));
  EXPECT_EQ(outer, left);
}

TEST(Histogram, MergingAnEmptyOneChangesNothing) {
  Distribution histogram = of({7, 9});
  histogram.merge({});
  EXPECT_EQ(histogram, of({7, 9}));
}

TEST(Histogram, WhatCameSinceIsAllButWhatWasThere) {
  const Distribution earlier = of({5, 100'000, 7}), all = of({5, 100'000, 7, 7, 20, 3'000});
  const Distribution since = all.since(earlier);
  EXPECT_EQ(since.count(), 3U);
  EXPECT_EQ(since.sum(), 3'027U);
  EXPECT_EQ(since.min(), 7U);
  EXPECT_EQ(since.value_at(0.5), 20U);
  EXPECT_NEAR(static_cast<double>(since.max()), 3'000, 3);
  EXPECT_EQ(all.since(all), Distribution());
  EXPECT_EQ(all.since({}).buckets(), all.buckets());
}

TEST(Histogram, RecordsSeveralTimesAtOnce) {
  Histogram histogram;
  histogram.record(50, 3);
  histogram.record(60, 0);
  EXPECT_EQ(histogram.distribution(), of({50, 50, 50}));
}

TEST(Histogram, ThreadsLoseNothing) {
  constexpr std::size_t kThreads = 4;
  Histogram together;
  {
    std::vector<std::jthread> recorders;
    for (std::size_t i = 0; i < kThreads; ++i)
      recorders.emplace_back([&together, i] {
        for (const std::uint64_t value : latencies(20'000, i)) together.record(value);
      });
  }
  Distribution one_by_one;
  for (std::size_t i = 0; i < kThreads; ++i) one_by_one.merge(of(latencies(20'000, i)));
  EXPECT_EQ(together.distribution(), one_by_one);
}

TEST(Histogram, WithholdsAPercentileWithFewerThanTenSamplesBeyondIt) {
  EXPECT_EQ(distribution_of({{1000, 999}}).percentile(0.99), std::nullopt);  // rank 990 of 999
  const Distribution thousand = distribution_of({{1000, 1000}});
  EXPECT_EQ(thousand.percentile(0.99), 1000u);  // rank 990 of 1000
  EXPECT_EQ(thousand.percentile(0.999), std::nullopt);
  EXPECT_EQ(thousand.percentile(1), std::nullopt);
}

TEST(Histogram, MarksAPercentileWithFewerThanAHundredBeyondIt) {
  EXPECT_TRUE(distribution_of({{1000, 9999}}).few_beyond(0.99));
  EXPECT_FALSE(distribution_of({{1000, 10'000}}).few_beyond(0.99));
}

TEST(Histogram, MovesWithItsValues) {
  Histogram from;
  for (const std::uint64_t value : {1, 2, 3}) from.record(value);
  const Histogram to = std::move(from);
  EXPECT_EQ(to.distribution(), of({1, 2, 3}));
}

}  // namespace
}  // namespace joust
