// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace joust {

// The values that a histogram has counted, by its buckets. A plain value: small, copyable, and the same
// wherever it is read again. One thread, unless nothing changes it.
class Distribution {
 public:
  // The values of one bucket of the histogram: both ends belong to it.
  struct Bucket {
    std::uint64_t low_ns;
    std::uint64_t high_ns;
    std::uint64_t count;
    bool operator==(const Bucket&) const = default;
  };

  // Quantiles of more values than this are not exact, because a double does not count them.
  static constexpr std::uint64_t kMostValues = std::uint64_t{1} << 53;

  Distribution() = default;
  // `buckets`: without empty ones, lowest first. `min_ns`, `max_ns` and `sum_ns` are those of the values.
  Distribution(std::vector<Bucket> buckets, std::uint64_t min_ns, std::uint64_t max_ns, std::uint64_t sum_ns);

  // Adds the values of another distribution.
  void merge(const Distribution& other);
  // Returns the values that came after `earlier`, an earlier state of the same histogram. The least and the
  // greatest value have the ends of their buckets.
  Distribution since(const Distribution& earlier) const;

  std::uint64_t count() const { return count_; }
  // Return exact values, because these do not come from the buckets. 0 without values. The sum wraps at 2^64
  // ns (584 years).
  std::uint64_t min() const { return min_ns_; }
  std::uint64_t max() const { return max_ns_; }
  std::uint64_t sum() const { return sum_ns_; }
  double mean() const;

  // Returns the value that `quantile` (0..1) of all values do not exceed, by nearest rank: the highest value
  // of the bucket that holds the value of rank ceil(quantile * count), at least 1. The result is at most 0.1
  // % above that value and never below it. It is never above max(), the one difference from HdrHistogram. 0
  // without values.
  std::uint64_t value_at(double quantile) const;

  // Returns value_at(), or nothing when fewer than 10 values lie beyond it: so few are an anecdote, not a
  // percentile.
  std::optional<std::uint64_t> percentile(double quantile) const;
  // Returns whether fewer than 100 values lie beyond the quantile, so that its percentile needs a mark.
  bool few_beyond(double quantile) const;

  // Returns the buckets that are not empty, lowest first.
  const std::vector<Bucket>& buckets() const { return buckets_; }

  bool operator==(const Distribution&) const = default;

 private:
  std::uint64_t rank_of(double quantile) const;
  std::uint64_t beyond(double quantile) const;

  std::vector<Bucket> buckets_;
  std::uint64_t count_ = 0, min_ns_ = 0, max_ns_ = 0, sum_ns_ = 0;
};

}  // namespace joust
