// SPDX-License-Identifier: MIT
#include "stats/summary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace joust::stats {
namespace {

constexpr double kNoFigure = std::numeric_limits<double>::quiet_NaN();

}  // namespace

double mean(std::span<const double> values) {
  if (values.empty()) return kNoFigure;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double variance(std::span<const double> values) {
  if (values.size() < 2) return std::nan("");
  const double middle = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - middle) * (value - middle);
  return squares / static_cast<double>(values.size() - 1);
}

double median(std::span<const double> values) {
  return quantile(values, 0.5);
}

double quantile(std::span<const double> values, double p) {
  return quantile_of_sorted(sorted(values), p);
}

double quantile_of_sorted(std::span<const double> ascending, double p) {
  if (ascending.empty()) return kNoFigure;
  const double place = std::clamp(p, 0.0, 1.0) * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, ascending.size() - 1);
  return std::lerp(ascending[below], ascending[above], place - static_cast<double>(below));
}

double relative_spread(std::span<const double> values) {
  if (values.empty()) return kNoFigure;
  const auto [least, greatest] = std::ranges::minmax(values);
  return greatest / least - 1;
}

std::vector<double> sorted(std::span<const double> values) {
  std::vector<double> ascending(values.begin(), values.end());
  std::ranges::sort(ascending);
  return ascending;
}

}  // namespace joust::stats
