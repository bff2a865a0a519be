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
// A greater one is not shown: it says only that the rounds are too few.
inline constexpr double kMostShown = 100;

// The conclusion about two contestants. A reader can check the direction by the interval: the first three of
// these name one where the interval does not contain 1.
enum class Decision : std::uint8_t {
  differ,    // told apart (is_told()), and the difference counts
  slight,    // told apart, by about as much as counts: the estimate is less, the interval reaches beyond
  probable,  // the interval does not contain 1, but among equals that is no rare chance
  equal,     // the interval of the ratio is within 1 / (1 + equal) .. 1 + equal
  undecided  // no difference was found, which does not mean that there is none
};

// Returns whether the ratio is not 1: equals have such a ratio in one of a hundred races, among all pairs.
bool is_told(const Ratio& ratio);
Decision decide(const Ratio& ratio, const Measure& measure);

// Returns whether it is known of two contestants that they differ, or that they are equal.
inline bool is_decided(Decision decision) {
  return decision == Decision::differ || decision == Decision::slight || decision == Decision::equal;
}

// Returns by how many times the rounds must grow until the interval is as narrow as the range of the equal,
// if the noise stays as it is: any difference beyond that range is then found. At least 1. Infinite where the
// rounds are too few to know the noise.
double rounds_to_rule_out(const Ratio& ratio, const Measure& measure);

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
