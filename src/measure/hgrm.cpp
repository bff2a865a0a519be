// SPDX-License-Identifier: MIT
// HdrHistogram's percentile text format: four columns and a footer, read by its plotter and by wrk2's users.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "measure/histogram.hpp"

namespace joust {
namespace {

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
      text += fmt::format("{:12.3f} {:.12f} {:10} {:14.2f}\n", value, percent / 100, seen,
                          100 / (100 - percent));
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
