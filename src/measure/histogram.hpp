// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/memory.hpp"
#include "measure/distribution.hpp"

namespace joust {

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
