// SPDX-License-Identifier: MIT
#include "measure/histogram.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

namespace joust {

Distribution::Distribution(std::vector<Bucket> buckets, std::uint64_t min_ns, std::uint64_t max_ns,
                           std::uint64_t sum_ns)
    : buckets_(std::move(buckets)), min_ns_(min_ns), max_ns_(max_ns), sum_ns_(sum_ns) {
  for (const Bucket& bucket : buckets_) count_ += bucket.count;
}

void Distribution::merge(const Distribution& other) {
  if (other.count_ == 0) return;
  std::vector<Bucket> all;
  std::ranges::merge(buckets_, other.buckets_, std::back_inserter(all), {}, &Bucket::low_ns, &Bucket::low_ns);
  buckets_.clear();
  for (const Bucket& bucket : all) {
    if (!buckets_.empty() && buckets_.back().low_ns == bucket.low_ns)
      buckets_.back().count += bucket.count;
    else
      buckets_.push_back(bucket);
  }
  min_ns_ = count_ == 0 ? other.min_ns_ : std::min(min_ns_, other.min_ns_);
  max_ns_ = std::max(max_ns_, other.max_ns_);
  sum_ns_ += other.sum_ns_;
  count_ += other.count_;
}

Distribution Distribution::since(const Distribution& earlier) const {
  std::vector<Bucket> later;
  auto before = earlier.buckets_.begin();
  for (Bucket bucket : buckets_) {
    while (before != earlier.buckets_.end() && before->low_ns < bucket.low_ns) ++before;
    if (before != earlier.buckets_.end() && before->low_ns == bucket.low_ns) bucket.count -= before->count;
    if (bucket.count > 0) later.push_back(bucket);
  }
  if (later.empty()) return {};
  const std::uint64_t least_ns = later.front().low_ns, greatest_ns = later.back().high_ns;
  return {std::move(later), least_ns, greatest_ns, sum_ns_ - earlier.sum_ns_};
}

double Distribution::mean() const {
  return count_ == 0 ? 0 : static_cast<double>(sum_ns_) / static_cast<double>(count_);
}

std::uint64_t Distribution::rank_of(double quantile) const {
  if (quantile >= 1) return std::max<std::uint64_t>(count_, 1);
  // The product is taken one step down, so that 0.07 * 100 = 7.000000000000001 is rank 7 and not 8.
  const double below = std::nextafter(std::clamp(quantile, 0.0, 1.0), 0.0);
  const auto rank = static_cast<std::uint64_t>(std::ceil(below * static_cast<double>(count_)));
  return std::clamp<std::uint64_t>(rank, 1, std::max<std::uint64_t>(count_, 1));
}

std::uint64_t Distribution::beyond(double quantile) const {
  return count_ == 0 ? 0 : count_ - rank_of(quantile);
}

std::uint64_t Distribution::value_at(double quantile) const {
  const std::uint64_t rank = rank_of(quantile);
  std::uint64_t seen = 0;
  for (const Bucket& bucket : buckets_) {
    seen += bucket.count;
    if (seen >= rank) return std::min(bucket.high_ns, max_ns_);
  }
  return max_ns_;
}

std::optional<std::uint64_t> Distribution::percentile(double quantile) const {
  return beyond(quantile) < 10 ? std::nullopt : std::optional(value_at(quantile));
}

bool Distribution::few_beyond(double quantile) const {
  return beyond(quantile) < 100;
}

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
