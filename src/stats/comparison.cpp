// SPDX-License-Identifier: MIT
#include "stats/comparison.hpp"

#include <algorithm>
#include <cmath>

#include "stats/summary.hpp"

namespace joust::stats {
namespace {

std::optional<double> positive_figure(std::span<const std::optional<double>> rounds, std::size_t round) {
  return round < rounds.size() && rounds[round] > 0.0 ? rounds[round] : std::nullopt;
}

}  // namespace

PairedLogRatios paired_log_ratios(std::span<const std::optional<double>> contestant,
                                  std::span<const std::optional<double>> reference) {
  PairedLogRatios ratios;
  for (std::size_t round = 0; round < std::max(contestant.size(), reference.size()); ++round) {
    const auto one = positive_figure(contestant, round), other = positive_figure(reference, round);
    if (one && other)
      ratios.values.push_back(std::log(*one / *other));
    else
      ++ratios.left_out;
  }
  return ratios;
}

Ratio compare(std::span<const std::optional<double>> contestant,
              std::span<const std::optional<double>> reference, const Bootstrap& bootstrap) {
  const PairedLogRatios logs = paired_log_ratios(contestant, reference);
  const Interval interval = median_interval(logs.values, bootstrap);
  return {std::exp(median(logs.values)),
          {std::exp(interval.low), std::exp(interval.high)},
          logs.values.size(),
          logs.left_out};
}

}  // namespace joust::stats
