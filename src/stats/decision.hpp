// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "stats/comparison.hpp"

namespace joust::stats {

// Which differences count. Both are fractions: 0.02 is 2 %.
struct Measure {
  double least = 0.02;  // the smallest difference that counts
  double equal = 0.03;  // contestants whose ratio is within this are equal
};

// The least difference above which a race measures nothing: a factor of two.
inline constexpr double kTellsNothing = 1;

// The conclusion about two contestants.
enum class Decision : std::uint8_t {
  differ,    // told apart, and the difference counts
  equal,     // the interval of the ratio is within 1 / (1 + equal) .. 1 + equal
  undecided  // neither: more rounds would tell
};

// Returns whether the ratio is not 1: equals have such a ratio in one of a hundred races, among all pairs.
bool is_told(const Ratio& ratio);
Decision decide(const Ratio& ratio, const Measure& measure);

// Returns by how many times the rounds must grow for a decision, if the noise stays as it is: the p-value
// must become that of a difference, or the interval come within the range of the equal. At least 1. Infinite
// where the rounds are too few to know the noise.
double rounds_to_decide(const Ratio& ratio, const Measure& measure);

// Returns by what fraction the reference may differ from itself, when it enters twice: the farther end of the
// interval of its ratio. Infinite when that interval is not known.
double aa_spread(const Ratio& reference_to_itself);

enum class Better : std::uint8_t { greater, smaller };

// The places that a contestant may have, from 1, the best. It is known of every contestant outside this range
// that it is better, or worse. Two contestants whose ranges overlap need not be equal.
struct Places {
  int first = 1, last = 1;
  bool operator==(const Places&) const = default;
};

// Returns the places of so many contestants. `is_better` says whether the first one is known to be better
// than the second one.
std::vector<Places> places_of(std::size_t contestants,
                              const std::function<bool(std::size_t, std::size_t)>& is_better);

}  // namespace joust::stats
