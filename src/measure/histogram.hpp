// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/zeroed_lines.hpp"

namespace joust {

// The number of threads that record in one place at the same time. One thread needs no atomic additions,
// which take several times as long.
enum class Writers { one, several };

// Counts of latencies in nanoseconds, exact to three significant decimal digits.
//
// The layout is HdrHistogram's for that precision: values below 2048 have a bucket each, and every further
// power of two is cut into 1024 equal buckets, so a bucket is never wider than 1/1024 of its lowest value.
// Two histograms therefore merge by adding buckets, which gives exactly the histogram of all their values
// together.
//
// Threads: record(), merge() into this and all questions may run at the same time; each bucket is one relaxed
// atomic counter. Questions asked meanwhile see some recent state; asked after the recorders were joined,
// they are exact. A moved-from histogram may only be assigned to or destroyed.
class Histogram {
 public:
  // The greatest value with a bucket of its own, about 73 minutes. Greater values are counted in the last
  // bucket, and by saturated().
  static constexpr std::uint64_t kHighestTrackable_ns = (std::uint64_t{1} << 42) - 1;

  // The values of one bucket: both ends belong to it.
  struct Bucket {
    std::uint64_t low_ns;
    std::uint64_t high_ns;
    std::uint64_t count;
    bool operator==(const Bucket&) const = default;
  };

  // Reserves 270 kB of address space. The system provides a page of it when a value in the page is first
  // counted.
  Histogram();

  void record(std::uint64_t value_ns, std::uint64_t times = 1, Writers writers = Writers::several);
  void merge(const Histogram& other);
  // Returns the values recorded since `earlier`, a copy of this histogram. The least and the greatest value
  // have the ends of their buckets.
  Histogram since(const Histogram& earlier) const;

  std::uint64_t count() const;
  std::uint64_t saturated() const;  // number of values above kHighestTrackable_ns
  // Return exact values, because these do not come from the buckets. 0 for an empty histogram. The sum wraps
  // at 2^64 ns (584 years).
  std::uint64_t min() const;
  std::uint64_t max() const;
  std::uint64_t sum() const;
  double mean() const;

  // Returns the value that `quantile` (0..1) of all values do not exceed, by nearest rank: the highest value
  // of the bucket that holds the value of rank ceil(quantile * count), at least 1. The result is at most 0.1
  // % above that value and never below it. It is never above max(), the one difference from HdrHistogram. 0
  // for an empty histogram.
  std::uint64_t value_at(double quantile) const;

  // Returns value_at(), or nothing when fewer than 10 values lie beyond it: so few are an anecdote, not a
  // percentile.
  std::optional<std::uint64_t> percentile(double quantile) const;
  // Returns whether fewer than 100 values lie beyond the quantile, so that its percentile needs a mark.
  bool few_beyond(double quantile) const;

  // Returns the buckets that are not empty, lowest first.
  std::vector<Bucket> buckets() const;

  // Returns the percentile distribution in the format of HdrHistogram's tools (.hgrm files). Values are
  // divided by `unit_ns`: 1e3 writes microseconds. Five lines for every halving of the distance to 100 %.
  std::string hgrm(double unit_ns = 1) const;

  // Returns the memory that record() writes to. It shares no cache line with any other memory.
  const ZeroedLines& memory() const { return memory_; }

 private:
  static constexpr std::size_t kBuckets = 33 * 1024;
  struct Cells {
    std::uint64_t min = 0, max = 0, sum = 0, saturated = 0;
    std::uint64_t counts[kBuckets];
  };

  static std::size_t bucket_of(std::uint64_t value_ns);
  static std::uint64_t lowest_of(std::size_t bucket);
  std::uint64_t rank_of(double quantile, std::uint64_t total) const;
  std::uint64_t beyond(double quantile) const;

  ZeroedLines memory_;
  Cells* cells_;  // in memory_
};

}  // namespace joust
