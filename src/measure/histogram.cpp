// SPDX-License-Identifier: MIT
#include "measure/histogram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cassert>
#include <cmath>
#include <functional>
#include <limits>

namespace joust {
namespace {

constexpr unsigned kSubBucketBits = 11;  // 2048 sub-buckets tell three decimal digits apart
constexpr std::uint64_t kSubBuckets = std::uint64_t{1} << kSubBucketBits;
constexpr std::size_t kHalf = kSubBuckets / 2;
constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

std::uint64_t load(std::uint64_t& cell) {
  return std::atomic_ref(cell).load(std::memory_order_relaxed);
}

void add(std::uint64_t& cell, std::uint64_t amount) {
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

constexpr double kLinesPerHalving = 5;

// Returns the distance from `percent` to the next line: a fifth of the way that halves the rest to 100. This
// is HdrHistogram's own rule (PercentileIterator): lines are 10 apart up to 50, then 5 apart up to 75, then
// 2.5. The unit is per cent, as in HdrHistogram: the sums are then exact where it matters.
double step_from(double percent) {
  const double halvings = std::floor(std::log2(100 / (100 - percent))) + 1;
  return 100 / (kLinesPerHalving * std::exp2(halvings));
}

// Returns the deviation computed from the middles of the buckets, as HdrHistogram does.
double standard_deviation(const std::vector<Histogram::Bucket>& buckets, double mean, double total) {
  double squares = 0;
  for (const Histogram::Bucket& bucket : buckets) {
    const double middle = (static_cast<double>(bucket.low_ns) + static_cast<double>(bucket.high_ns)) / 2;
    squares += (middle - mean) * (middle - mean) * static_cast<double>(bucket.count);
  }
  return total == 0 ? 0 : std::sqrt(squares / total);
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
  const auto add_to = writers == Writers::one ? add_alone : add;
  add_to(cells_->counts[bucket_of(value_ns)], times);
  add_to(cells_->sum, value_ns * times);
  if (value_ns > kHighestTrackable_ns) add_to(cells_->saturated, times);
  keep(cells_->min, value_ns, std::less{});
  keep(cells_->max, value_ns, std::greater{});
}

void Histogram::merge(const Histogram& other) {
  assert(&other != this);
  for (std::size_t i = 0; i < kBuckets; ++i)
    if (const std::uint64_t count = load(other.cells_->counts[i])) add(cells_->counts[i], count);
  add(cells_->sum, load(other.cells_->sum));
  add(cells_->saturated, load(other.cells_->saturated));
  keep(cells_->min, load(other.cells_->min), std::less{});
  keep(cells_->max, load(other.cells_->max), std::greater{});
}

Histogram Histogram::since(const Histogram& earlier) const {
  Histogram later;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    const std::uint64_t count = load(cells_->counts[i]) - load(earlier.cells_->counts[i]);
    if (count == 0) continue;
    later.cells_->counts[i] = count;
    later.cells_->min = std::min(later.cells_->min, lowest_of(i));
    later.cells_->max = lowest_of(i + 1) - 1;
  }
  later.cells_->sum = load(cells_->sum) - load(earlier.cells_->sum);
  later.cells_->saturated = load(cells_->saturated) - load(earlier.cells_->saturated);
  return later;
}

std::uint64_t Histogram::count() const {
  // The count is no counter of its own. So recording stays two additions, and count and buckets cannot
  // disagree.
  std::uint64_t total = 0;
  for (std::uint64_t& cell : cells_->counts) total += load(cell);
  return total;
}

std::uint64_t Histogram::saturated() const {
  return load(cells_->saturated);
}
std::uint64_t Histogram::max() const {
  return load(cells_->max);
}
std::uint64_t Histogram::sum() const {
  return load(cells_->sum);
}

std::uint64_t Histogram::min() const {
  const std::uint64_t least = load(cells_->min);
  return least == kNone ? 0 : least;
}

double Histogram::mean() const {
  const std::uint64_t total = count();
  return total == 0 ? 0 : static_cast<double>(sum()) / static_cast<double>(total);
}

std::uint64_t Histogram::rank_of(double quantile, std::uint64_t total) const {
  // The product is taken one step down, so that 0.07 * 100 = 7.000000000000001 is rank 7 and not 8.
  const double below = std::nextafter(std::clamp(quantile, 0.0, 1.0), 0.0);
  const auto rank = static_cast<std::uint64_t>(std::ceil(below * static_cast<double>(total)));
  return std::clamp<std::uint64_t>(rank, 1, std::max<std::uint64_t>(total, 1));
}

std::uint64_t Histogram::beyond(double quantile) const {
  const std::uint64_t total = count();
  return total == 0 ? 0 : total - rank_of(quantile, total);
}

std::uint64_t Histogram::value_at(double quantile) const {
  const std::uint64_t rank = rank_of(quantile, count());
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    seen += load(cells_->counts[i]);
    if (seen >= rank) return std::min(lowest_of(i + 1) - 1, max());
  }
  return max();
}

std::optional<std::uint64_t> Histogram::percentile(double quantile) const {
  return beyond(quantile) < 10 ? std::nullopt : std::optional(value_at(quantile));
}

bool Histogram::few_beyond(double quantile) const {
  return beyond(quantile) < 100;
}

std::vector<Histogram::Bucket> Histogram::buckets() const {
  std::vector<Bucket> filled;
  for (std::size_t i = 0; i < kBuckets; ++i)
    if (const std::uint64_t count = load(cells_->counts[i]))
      filled.push_back({lowest_of(i), lowest_of(i + 1) - 1, count});
  return filled;
}

// HdrHistogram's percentile text format: four columns and a footer, read by its plotter and by wrk2's users.

std::string Histogram::hgrm(double unit_ns) const {
  const std::vector<Bucket> filled = buckets();
  std::uint64_t total = 0, seen = 0;
  for (const Bucket& bucket : filled) total += bucket.count;
  const auto whole = static_cast<double>(total);

  std::string text =
      fmt::format("{:>12} {:>14} {:>10} {:>14}\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
  double percent = 0;
  for (const Bucket& bucket : filled) {
    seen += bucket.count;
    const double value = static_cast<double>(std::min(bucket.high_ns, max())) / unit_ns;
    while (100 * static_cast<double>(seen) >= percent * whole) {
      text +=
          fmt::format("{:12.3f} {:.12f} {:10} {:14.2f}\n", value, percent / 100, seen, 100 / (100 - percent));
      percent += step_from(percent);
      if (seen == total) break;  // more lines would repeat the greatest value
    }
    if (seen == total) text += fmt::format("{:12.3f} {:.12f} {:10}\n", value, 1.0, seen);
  }
  text += fmt::format("#[Mean    = {:12.3f}, StdDeviation   = {:12.3f}]\n", mean() / unit_ns,
                      standard_deviation(filled, mean(), whole) / unit_ns);
  text += fmt::format("#[Max     = {:12.3f}, Total count    = {:12}]\n", static_cast<double>(max()) / unit_ns,
                      total);
  text += fmt::format("#[Buckets = {:12}, SubBuckets     = {:12}]\n", 32, 2048);
  return text;
}

}  // namespace joust
