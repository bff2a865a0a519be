// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace joust::stats {

// How a series changes from its first half to its second: median of the second / median of the first - 1. The
// middle value of an odd number belongs to neither. NaN for fewer than two values.
double change_between_halves(std::span<const double> series);

// The straight line through a series by least squares.
struct Line {
  double slope;   // per step
  double change;  // from the first to the last value, as a fraction of the series' mean
};
// NaN for fewer than two values.
Line least_squares(std::span<const double> series);

// One figure of a race and where it was measured, to ask whether the place had a say in it. Figures are
// positive.
struct Observation {
  std::size_t contestant;
  std::size_t round;
  std::size_t position;  // within the round
  double figure;
};

struct Effect {
  double spread;  // of the places' means: greatest / least - 1. 0 with fewer than two places
  double chance;  // how often chance alone does as much: small means that the place matters
};

// Whether figures depend on the position within the round, or on the round, whoever runs. The mean logarithm
// of each contestant is taken from its figures; the rest is averaged by place, and the greatest and least of
// these means are compared (their ratio, less one). Chance comes from a permutation test: the same with the
// rests shuffled, within each round for the position, as the race itself shuffles, and within each contestant
// for the round.
inline constexpr std::size_t kPermutations = 1000;
Effect position_effect(std::span<const Observation> race, std::uint64_t seed,
                       std::size_t permutations = kPermutations);
Effect round_effect(std::span<const Observation> race, std::uint64_t seed,
                    std::size_t permutations = kPermutations);

}  // namespace joust::stats
