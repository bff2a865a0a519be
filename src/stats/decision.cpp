// SPDX-License-Identifier: MIT
#include "stats/decision.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stats/student.hpp"

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
  return within ? Decision::equal : Decision::undecided;
}

double rounds_to_decide(const Ratio& ratio, const Measure& measure) {
  if (!ratio.is_known()) return std::numeric_limits<double>::infinity();
  const double difference = std::abs(std::log(ratio.estimate));
  const double half_width = std::log(ratio.interval.high / ratio.interval.low) / 2;
  double times = std::numeric_limits<double>::infinity();
  if (difference >= std::log1p(measure.least)) {
    // A difference is told by a p-value that is smaller than that of the interval.
    const std::size_t degrees = std::max<std::size_t>(1, ratio.rounds - 1);
    const double wider =
        student_quantile(1 - kEqualsTied, degrees) / student_quantile(1 - kTogether, degrees);
    times = std::pow(wider * half_width / difference, 2);
  }
  if (const double to_be_equal = std::log1p(measure.equal) - difference; to_be_equal > 0)
    times = std::min(times, std::pow(half_width / to_be_equal, 2));
  return std::max(1.0, times);
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
