// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "stats/comparison.hpp"

namespace joust::stats {

// Of races between equal contestants, at least this share tells none of them apart.
inline constexpr double kEqualsTied = 0.99;
// Smaller differences are never told, however quiet the race: two builds of one program differ as much.
inline constexpr double kLeastDifference = 0.02;

// A least difference above this, a factor of two, is no measurement.
inline constexpr double kTellsNothing = 1;

// By what fraction the reference may differ from itself, when it enters twice: the farther end of the
// interval of its ratio. Infinite when that interval is not known.
double aa_spread(const Ratio& reference_to_itself);

// The least estimated difference that is told, from the noise of all `entries`: the contestants, and the
// reference a second time. It is half the width of the median pair's interval (of two in the middle, the
// narrower), stretched to the coverage kEqualsTied as the intervals of a normal distribution are, and at
// least kLeastDifference. Infinite when no interval is known.
//
// An interval that is too narrow by chance, because two contestants agreed in a few rounds, is the usual
// reason why equal ones seem to differ. The median of all pairs is steadier than each of them. A true
// difference as large as this is told in about half of such races, one twice as large in nearly all.
double least_difference(std::span<const Rounds> entries, const Family& family);

// Whether two contestants are told apart: the interval of their ratio does not contain 1, and the estimate is
// not within (1/(1+d), 1+d). A ratio whose interval is not known ties.
bool differ(const Ratio& ratio, double d);

enum class Better { greater, smaller };

// The tie group of each contestant, 1 the best; 0 for one without a single figure. The best by median figure
// that has no group yet leads the next one, and every one left that ties with it joins. A contestant that
// another one is told to be better than, within the same rounds, does not lead before that one.
//
// Ties are not transitive, so any grouping hides something. This one promises: a leader is told apart from
// the leader of every group above it. It does not promise that two members of one group tie with one another,
// nor that a group's last differs from the next group's first.
std::vector<int> tie_groups(std::span<const Rounds> contestants, const Family& family, double d,
                            Better better = Better::greater);

}  // namespace joust::stats
