// SPDX-License-Identifier: MIT
#include "stats/decision.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace joust::stats {

bool is_told(const Ratio& ratio) {
  return ratio.is_known() && ratio.chance <= 1 - kEqualsTied && !ratio.interval.contains(1);
}

Decision decide(const Ratio& ratio, const Measure& measure) {
  if (!ratio.is_known()) return Decision::undecided;
  const double difference = std::max(ratio.estimate, 1 / ratio.estimate) - 1;
  if (is_told(ratio) && difference >= measure.least) return Decision::differ;
  const bool within =
      ratio.interval.low >= 1 / (1 + measure.equal) && ratio.interval.high <= 1 + measure.equal;
  if (within) return Decision::equal;
  if (is_told(ratio)) return Decision::slight;
  return ratio.interval.contains(1) ? Decision::undecided : Decision::probable;
}

double rounds_to_rule_out(const Ratio& ratio, const Measure& measure) {
  if (!ratio.is_known()) return std::numeric_limits<double>::infinity();
  const double half_width = std::log(ratio.interval.high / ratio.interval.low) / 2;
  return std::max(1.0, std::pow(half_width / std::log1p(measure.equal), 2));
}

double aa_spread(const Ratio& reference_to_itself) {
  const Interval& ratio = reference_to_itself.interval;
  return ratio.is_known() ? std::max(ratio.high, 1 / ratio.low) - 1 : std::numeric_limits<double>::infinity();
}

std::vector<Places> places_of(std::size_t contestants,
                              const std::function<bool(std::size_t, std::size_t)>& is_better) {
  std::vector<Places> places(contestants, {.first = 1, .last = static_cast<int>(contestants)});
  for (std::size_t one = 0; one < contestants; ++one)
    for (std::size_t other = 0; other < contestants; ++other)
      if (one != other && is_better(other, one)) ++places[one].first, --places[other].last;
  return places;
}

}  // namespace joust::stats
