// SPDX-License-Identifier: MIT
#include "stats/ties.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "stats/summary.hpp"

namespace joust::stats {
namespace {

double median_figure(const Rounds& rounds) {
  std::vector<double> figures;
  for (const auto& figure : rounds)
    if (figure > 0.0) figures.push_back(*figure);
  return median(figures);
}

// Who has figures, the best first; in the given order where medians are equal.
std::vector<std::size_t> best_first(std::span<const Rounds> contestants) {
  std::vector<double> medians;
  for (const Rounds& rounds : contestants) medians.push_back(median_figure(rounds));
  std::vector<std::size_t> order(contestants.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t one) { return std::isnan(medians[one]); });
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t one) { return medians[one]; });
  return order;
}

}  // namespace

double aa_spread(const Ratio& reference_to_itself) {
  const Interval& ratio = reference_to_itself.interval;
  return std::max(ratio.high, 1 / ratio.low) - 1;
}

double least_difference(const Ratio& reference_to_itself) {
  return std::max(aa_spread(reference_to_itself), kLeastDifference);
}

bool tied(const Ratio& ratio, double d) {
  return ratio.interval.overlaps({1 / (1 + d), 1 + d});
}

std::vector<int> tie_groups(std::span<const Rounds> contestants, double d, const Bootstrap& bootstrap) {
  std::vector<int> groups(contestants.size(), 0);
  std::vector<std::size_t> left = best_first(contestants);
  for (int group = 1; !left.empty(); ++group) {
    const std::size_t leader = left.front();
    std::erase_if(left, [&](std::size_t one) {
      if (one != leader && !tied(compare(contestants[one], contestants[leader], bootstrap), d)) return false;
      groups[one] = group;
      return true;
    });
  }
  return groups;
}

}  // namespace joust::stats
