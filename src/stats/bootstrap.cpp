// SPDX-License-Identifier: MIT
#include "stats/bootstrap.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

#include "stats/random.hpp"
#include "stats/summary.hpp"

namespace joust::stats {

Interval median_interval(std::span<const double> sample, const Bootstrap& bootstrap) {
  assert(bootstrap.resamples > 0 && bootstrap.confidence > 0 && bootstrap.confidence < 1);
  if (sample.size() < 2) return {};
  Random random(bootstrap.seed);
  std::vector<double> resample(sample.size()), medians(bootstrap.resamples);
  for (double& one : medians) {
    for (double& value : resample) value = sample[draw_below(random, sample.size())];
    one = median(resample);
  }
  std::ranges::sort(medians);
  const double tail = (1 - bootstrap.confidence) / 2;
  return {quantile_of_sorted(medians, tail), quantile_of_sorted(medians, 1 - tail)};
}

double greatest_confidence(std::size_t sample_size) {
  return sample_size == 0 ? 0 : 1 - std::exp2(1 - static_cast<double>(sample_size));
}

double true_confidence(std::size_t sample_size, const Bootstrap& bootstrap) {
  return std::min(bootstrap.confidence, greatest_confidence(sample_size));
}

}  // namespace joust::stats
