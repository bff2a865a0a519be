// SPDX-License-Identifier: MIT
#include "measure/histogram.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

namespace joust {
namespace {

constexpr unsigned kSubBucketBits = 11;  // 2048 sub-buckets tell three decimal digits apart
constexpr std::uint64_t kSubBuckets = std::uint64_t{1} << kSubBucketBits;
constexpr std::size_t kHalf = kSubBuckets / 2;
constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

std::uint64_t load(std::uint64_t& cell) {
  return std::atomic_ref(cell).load(std::memory_order_relaxed);
}

void add_shared(std::uint64_t& cell, std::uint64_t amount) {
  std::atomic_ref(cell).fetch_add(amount, std::memory_order_relaxed);
}

// Adds without a locked instruction, for the only thread that adds. Other threads may read meanwhile.
void add_alone(std::uint64_t& cell, std::uint64_t amount) {
  std::atomic_ref shared(cell);
  shared.store(shared.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
}

// Keeps the present value of `cell` or `value` in it, whichever comes first in the order `before`.
template <typename Before>
void keep(std::uint64_t& cell, std::uint64_t value, Before before) {
  std::atomic_ref shared(cell);
  std::uint64_t seen = shared.load(std::memory_order_relaxed);
  while (before(value, seen) && !shared.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

}  // namespace

Histogram::Histogram() : memory_(sizeof(Cells)), cells_(static_cast<Cells*>(memory_.data())) {
  cells_->min = kNone;
}

std::size_t Histogram::bucket_of(std::uint64_t value_ns) {
  const std::uint64_t value = std::min(value_ns, kHighestTrackable_ns);
  const auto shift = static_cast<unsigned>(std::bit_width(value | (kSubBuckets - 1))) - kSubBucketBits;
  return shift * kHalf + static_cast<std::size_t>(value >> shift);
}

std::uint64_t Histogram::lowest_of(std::size_t bucket) {
  const std::size_t shift = bucket < kSubBuckets ? 0 : bucket / kHalf - 1;
  return static_cast<std::uint64_t>(bucket - shift * kHalf) << shift;
}

void Histogram::record(std::uint64_t value_ns, std::uint64_t times, Writers writers) {
  if (times == 0) return;
  const auto add_to = writers == Writers::one ? add_alone : add_shared;
  add_to(cells_->counts[bucket_of(value_ns)], times);
  add_to(cells_->sum, value_ns * times);
  keep(cells_->min, value_ns, std::less{});
  keep(cells_->max, value_ns, std::greater{});
}

Distribution::Bucket Histogram::bucket_with(std::uint64_t value_ns, std::uint64_t count) {
  const std::size_t bucket = bucket_of(value_ns);
  return {lowest_of(bucket), lowest_of(bucket + 1) - 1, count};
}

std::uint64_t Histogram::sum() const {
  return load(cells_->sum);
}

Distribution Histogram::distribution() const {
  const std::uint64_t least = load(cells_->min);
  if (least == kNone) return {};
  std::vector<Distribution::Bucket> filled;
  for (std::size_t i = 0; i < kBuckets; ++i)
    if (const std::uint64_t count = load(cells_->counts[i]))
      filled.push_back({lowest_of(i), lowest_of(i + 1) - 1, count});
  return {std::move(filled), least, load(cells_->max), load(cells_->sum)};
}

}  // namespace joust
