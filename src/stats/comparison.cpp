// SPDX-License-Identifier: MIT
#include "stats/comparison.hpp"

#include <algorithm>
#include <cmath>

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

Family::Family(std::size_t contestants, std::size_t looks)
    : pairs_((contestants < 2 ? 1 : contestants * (contestants - 1) / 2) * looks) {}

double Family::of_each(double together) const {
  return 1 - (1 - together) / static_cast<double>(pairs_);
}

double Family::together(double of_each) const {
  return std::max(0.0, 1 - (1 - of_each) * static_cast<double>(pairs_));
}

Ratio compare(std::span<const std::optional<double>> contestant,
              std::span<const std::optional<double>> reference, const Family& family) {
  const PairedLogRatios logs = paired_log_ratios(contestant, reference);
  const std::size_t rounds = logs.values.size();
  Location location = centre(logs.values, place_of_centre(rounds, family.of_each()));
  if (location.coverage < family.of_each(kBarelyTogether))
    location = widened(location, rounds, family.of_each());
  return {.estimate = std::exp(location.estimate),
          .interval = {std::exp(location.interval.low), std::exp(location.interval.high)},
          .coverage = location.coverage,
          .rounds = rounds,
          .left_out = logs.left_out};
}

}  // namespace joust::stats
