// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace joust::stats {

// Where a figure lies, both ends included. Unbounded when the sample cannot tell.
struct Interval {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  bool is_known() const { return width() < std::numeric_limits<double>::infinity(); }
  double width() const { return high - low; }
  bool overlaps(const Interval& other) const { return low <= other.high && other.low <= high; }
  bool operator==(const Interval&) const = default;
};

struct Bootstrap {
  std::uint64_t seed;            // print it: the same seed and sample give the same interval everywhere
  std::size_t resamples = 2000;  // enough for ends that move little with the seed
  double confidence = 0.95;
};

// Percentile bootstrap interval for the median of what the sample was drawn from (Efron and Tibshirani, "An
// Introduction to the Bootstrap", 1993, chapter 13). Fewer than two values tell nothing about their spread:
// the interval is then unbounded, not narrow.
Interval median_interval(std::span<const double> sample, const Bootstrap& bootstrap);

// No interval between members of a sample of n holds the median with more confidence than this: each value
// lies above it or below it like a coin, so all n lie on one side with probability 2^(1-n). 0.938 for five
// values: it takes six for 95 %.
double greatest_confidence(std::size_t sample_size);

// What median_interval() can truly claim: what it was asked for, or the greatest that is possible.
double true_confidence(std::size_t sample_size, const Bootstrap& bootstrap);

}  // namespace joust::stats
