// SPDX-License-Identifier: MIT
#include "stats/ties.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
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

// Returns the contestants with figures, the best first; in the given order where medians are equal.
std::vector<std::size_t> best_first(std::span<const Rounds> contestants, Better better) {
  std::vector<double> medians;
  for (const Rounds& rounds : contestants) medians.push_back(median_figure(rounds));
  std::vector<std::size_t> order(contestants.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t one) { return std::isnan(medians[one]); });
  const double sign = better == Better::greater ? -1 : 1;
  std::ranges::stable_sort(order, {}, [&](std::size_t one) { return sign * medians[one]; });
  return order;
}

enum class Standing { tied, better, worse };

// Returns the standing of each contestant (row) against each other one (column).
std::vector<std::vector<Standing>> standings(std::span<const Rounds> contestants, const Family& family,
                                             double d, Better better) {
  const std::size_t count = contestants.size();
  std::vector<std::vector<Standing>> all(count, std::vector<Standing>(count, Standing::tied));
  for (std::size_t one = 0; one < count; ++one)
    for (std::size_t other = one + 1; other < count; ++other) {
      const Ratio ratio = compare(contestants[one], contestants[other], family);
      if (!differ(ratio, d)) continue;
      const bool wins = (ratio.estimate > 1) == (better == Better::greater);
      all[one][other] = wins ? Standing::better : Standing::worse;
      all[other][one] = wins ? Standing::worse : Standing::better;
    }
  return all;
}

}  // namespace

double aa_spread(const Ratio& reference_to_itself) {
  const Interval& ratio = reference_to_itself.interval;
  return std::max(ratio.high, 1 / ratio.low) - 1;
}

double least_difference(std::span<const Rounds> entries, const Family& family) {
  const auto deviations = [](double coverage) { return normal_quantile((1 + coverage) / 2); };
  const double wanted = deviations(family.of_each(kEqualsTied));
  std::vector<double> logarithms;
  for (std::size_t one = 0; one < entries.size(); ++one)
    for (std::size_t other = one + 1; other < entries.size(); ++other) {
      const Ratio ratio = compare(entries[one], entries[other], family);
      if (!ratio.is_known()) continue;
      const double half_width = std::log(ratio.interval.high / ratio.interval.low) / 2;
      logarithms.push_back(half_width * wanted / deviations(ratio.coverage));
    }
  if (logarithms.empty()) return std::numeric_limits<double>::infinity();
  const auto middle = logarithms.begin() + static_cast<std::ptrdiff_t>((logarithms.size() - 1) / 2);
  std::ranges::nth_element(logarithms, middle);
  return std::max(kLeastDifference, std::expm1(*middle));
}

bool differ(const Ratio& ratio, double d) {
  return ratio.is_known() && !ratio.interval.contains(1) &&
         std::max(ratio.estimate, 1 / ratio.estimate) >= 1 + d;
}

std::vector<int> tie_groups(std::span<const Rounds> contestants, const Family& family, double d,
                            Better better) {
  const auto standing = standings(contestants, family, d, better);
  std::vector<int> groups(contestants.size(), 0);
  std::vector<std::size_t> left = best_first(contestants, better);
  for (int group = 1; !left.empty(); ++group) {
    const auto unbeaten = std::ranges::find_if(left, [&](std::size_t one) {
      return std::ranges::none_of(
          left, [&](std::size_t other) { return standing[other][one] == Standing::better; });
    });
    const std::size_t leader = unbeaten == left.end() ? left.front() : *unbeaten;
    std::erase_if(left, [&](std::size_t one) {
      if (standing[leader][one] != Standing::tied) return false;
      groups[one] = group;
      return true;
    });
  }
  return groups;
}

}  // namespace joust::stats
