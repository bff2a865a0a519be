// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/memory.hpp"

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

// The number of threads that record in one place at the same time. One thread needs no atomic additions,
// which take several times as long.
enum class Writers { one, several };

// Counts of latencies in nanoseconds, exact to three significant decimal digits.
//
// The layout is HdrHistogram's for that precision: values below 2048 have a bucket each, and every further
// power of two is cut into 1024 equal buckets, so a bucket is never wider than 1/1024 of its lowest value.
// The distributions of two histograms therefore merge by adding buckets, which gives exactly that of all
// their values together.
//
// Threads: record() and distribution() may run at the same time; each bucket is one relaxed atomic counter. A
// distribution taken meanwhile is some recent state; taken after the recorders were joined, it is exact. A
// moved-from histogram may only be assigned to or destroyed.
class Histogram {
 public:
  // The greatest value with a bucket of its own, about 73 minutes. Greater values are counted in the last
  // bucket.
  static constexpr std::uint64_t kHighestTrackable_ns = (std::uint64_t{1} << 42) - 1;

  // Reserves 270 kB of address space. The system provides a page of it when a value in the page is first
  // counted.
  Histogram();

  void record(std::uint64_t value_ns, std::uint64_t times = 1, Writers writers = Writers::several);
  // Returns the values recorded so far.
  Distribution distribution() const;
  // Returns their sum, ns, without a look at the buckets.
  std::uint64_t sum() const;

  // Returns the number of the bucket that counts a value, from 0: its index in HdrHistogram's array of
  // counts.
  static std::size_t bucket_of(std::uint64_t value_ns);
  static constexpr std::size_t kBuckets = 33 * 1024;
  // Returns the least value that a bucket counts.
  static std::uint64_t lowest_of(std::size_t bucket);
  // Returns the bucket that counts a value, with this count.
  static Distribution::Bucket bucket_with(std::uint64_t value_ns, std::uint64_t count);

  // Returns the memory that record() writes to. It shares no cache line with any other memory.
  const ZeroedLines& memory() const { return memory_; }

 private:
  struct Cells {
    std::uint64_t min = 0, max = 0, sum = 0;
    std::uint64_t counts[kBuckets];
  };

  ZeroedLines memory_;
  Cells* cells_;  // in memory_
};

}  // namespace joust
