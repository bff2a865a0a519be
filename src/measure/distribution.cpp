// SPDX-License-Identifier: MIT
#include "measure/distribution.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

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

}  // namespace joust
