// SPDX-License-Identifier: MIT
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <random>
#include <ranges>
#include <utility>

// Random choices that a printed seed repeats everywhere. The standard fixes what std::mt19937_64 yields, but
// leaves std::uniform_int_distribution and std::shuffle to each library.
namespace joust::stats {

using Random = std::mt19937_64;

// Returns one of 0 .. bound - 1, each with equal probability.
inline std::uint64_t draw_below(Random& random, std::uint64_t bound) {
  assert(bound > 0);
  // The numbers above the greatest multiple of `bound` would favour small results, so they are drawn again.
  const std::uint64_t accepted = Random::max() - Random::max() % bound;
  std::uint64_t drawn = random();
  while (drawn >= accepted) drawn = random();
  return drawn % bound;
}

// Shuffles the values: every order has equal probability (Fisher and Yates).
template <std::ranges::random_access_range Values>
void shuffle(Values&& values, Random& random) {
  for (std::size_t left = std::ranges::size(values); left > 1; --left)
    std::swap(values[left - 1], values[draw_below(random, left)]);
}

}  // namespace joust::stats
