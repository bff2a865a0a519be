// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <vector>

namespace joust::stats {

// Figures of several contestants, measured side by side: a row for each round, a column for each contestant.
using TwoWayTable = std::vector<std::vector<std::optional<double>>>;

// Returns the level of each column, without the effects that its rows have in common. The difference of two
// columns is estimated by Hodges and Lehmann's estimate of their differences within rows, which a disturbance
// of a few rows or cells hardly changes. The levels fit all these differences by least squares, so that they
// agree with one another: Lehmann, "Robust estimation in analysis of variance", The Annals of Mathematical
// Statistics 34, 1963. For two columns the difference of the levels is that estimate. NaN for a column that
// shares no row with another one, unless it is the only column with cells. Rows may have empty cells.
std::vector<double> levels_side_by_side(const TwoWayTable& rows);

}  // namespace joust::stats
