// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "stats/comparison.hpp"

namespace joust::stats {

// The least share of races between equal contestants in which none of them are told apart.
inline constexpr double kEqualsTied = 0.99;
// The least difference that is ever reported, however quiet the race: two builds of one program differ as
// much.
inline constexpr double kLeastDifference = 0.02;

// The least difference above which a race measures nothing: a factor of two.
inline constexpr double kTellsNothing = 1;

// Returns by what fraction the reference may differ from itself, when it enters twice: the farther end of the
// interval of its ratio. Infinite when that interval is not known.
double aa_spread(const Ratio& reference_to_itself);

// Returns the least estimated difference that is reported, from the noise of all `entries`: the contestants,
// and the reference a second time. It is half the width of the median pair's interval (the narrower of two in
// the middle), stretched to the coverage kEqualsTied as intervals of a normal distribution are, and at least
// kLeastDifference. Infinite when no interval is known.
//
// The usual reason why equal contestants seem to differ is an interval that is too narrow by chance, because
// two contestants agreed in a few rounds. The median of all pairs is steadier than each of them. A true
// difference as large as this is reported in about half of such races, one twice as large in nearly all.
double least_difference(std::span<const Rounds> entries, const Family& family);

// Returns whether two contestants are told apart: the interval of their ratio does not contain 1, and the
// estimate is not within (1/(1+d), 1+d). A ratio whose interval is not known ties.
bool differ(const Ratio& ratio, double d);

enum class Better { greater, smaller };

// Returns the tie group of each contestant, 1 the best; 0 for a contestant without figures. The best
// contestant by median figure that has no group yet leads the next group, and every remaining one that ties
// with it joins. If a contestant is worse than another within the same rounds, it does not lead before that
// one.
//
// Ties are not transitive, so any grouping hides something. This grouping promises that a leader is told
// apart from the leader of every group above it. It does not promise that two members of one group tie with
// one another, nor that a group's last differs from the next group's first.
std::vector<int> tie_groups(std::span<const Rounds> contestants, const Family& family, double d,
                            Better better = Better::greater);

}  // namespace joust::stats
