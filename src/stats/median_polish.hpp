// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <vector>

namespace joust::stats {

// Figures of several contestants, measured side by side: a row for each round, a column for each contestant.
using TwoWayTable = std::vector<std::vector<std::optional<double>>>;

// The figure of each column, freed of what its rows have in common: overall + column effect of Tukey's median
// polish ("Exploratory Data Analysis", 1977, chapter 11). Medians, because a neighbour on the machine slows
// down a few rows, or one cell, by a multiple of all other noise. For two columns the difference of the
// results is the median of the differences within rows. NaN for a column without a cell. The rows may have
// holes.
std::vector<double> median_polish(const TwoWayTable& rows);

}  // namespace joust::stats
