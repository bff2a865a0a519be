// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <vector>

#include "stats/comparison.hpp"

namespace joust::stats {

// Differences below this are never told apart, however quiet the race: two builds of one program differ as
// much.
inline constexpr double kLeastDifference = 0.02;

// By what fraction the reference seems to differ from itself, when it enters twice: the farther end of the
// interval of its ratio. Infinite when that interval is not known.
double aa_spread(const Ratio& reference_to_itself);

// The least relative difference this race can tell: the greater of the A/A spread and kLeastDifference.
double least_difference(const Ratio& reference_to_itself);

// Whether two contestants cannot be told apart: the interval of their ratio overlaps [1/(1+d), 1+d]. A ratio
// whose interval is not known ties.
bool tied(const Ratio& ratio, double d);

// The tie group of each contestant, 1 the best; 0 for one without a single figure. Greater figures are better
// (give 1/latency). The best by median figure that has no group yet leads the next one, and every one left
// that ties with it joins.
//
// Ties are not transitive, so any grouping hides something. This one promises: a leader is told apart from
// the leader of every group above it. It does not promise that two members of one group tie with one another,
// nor that a group's last differs from the next group's first.
std::vector<int> tie_groups(std::span<const Rounds> contestants, double d, const Bootstrap& bootstrap);

}  // namespace joust::stats
