// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace joust::stats {

// Returns the change of a series from its first half to its second: median of the second / median of the
// first - 1. The middle value of an odd number belongs to neither half. NaN for fewer than two values.
double change_between_halves(std::span<const double> series);

// The straight line through a series by least squares.
struct Line {
  double slope;   // per step
  double change;  // from the first to the last value, as a fraction of the series' mean
};
// Fits a line. NaN for fewer than two values.
Line least_squares(std::span<const double> series);

// Returns the correlation of each value with the next one, corrected for its bias of -1/n. Nothing for fewer
// than four values, or if all are equal.
std::optional<double> lag_one_correlation(std::span<const double> series);

// One figure of a race and its place in the race, to test whether the place had an effect. Figures are
// positive.
struct Observation {
  std::size_t contestant;
  std::size_t round;
  std::size_t position;  // within the round
  double figure;
};

struct Effect {
  double spread;  // spread of the places' means: greatest / least - 1. 0 with fewer than two places
  double chance;  // probability of such a spread by chance alone: small if the place matters
};

// Test whether figures depend on the position within the round, or on the round, whichever contestant runs.
// The mean logarithm of each contestant is subtracted from its figures. The rests are averaged by place, and
// the greatest and least of these means are compared (their ratio, less one). The probability by chance comes
// from a permutation test, which does the same with shuffled rests. For the position they are shuffled within
// each round, as the race itself shuffles. For the round they are shuffled within each contestant, and so for
// carry-over, where the position is the number of the contestant that ran before.
//
// `least`: a spread of no more than this matters to nobody. It is not tested, and its chance is 1.
inline constexpr std::size_t kPermutations = 1000;
Effect position_effect(std::span<const Observation> race, std::uint64_t seed, double least = 0);
Effect carry_over_effect(std::span<const Observation> race, std::uint64_t seed, double least = 0);
Effect round_effect(std::span<const Observation> race, std::uint64_t seed, double least = 0);

}  // namespace joust::stats
