// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace joust::report {

// The facts that decide on the row of a contestant in a table.
struct RowFacts {
  bool is_ranked = false;  // its figure is valid, also as a bound
  bool is_bound = false;   // it is, or may be, a lower bound
  bool has_place = false;
  std::optional<double> figure{};  // the smaller, the better: a throughput is negative here
  std::optional<double> cost{};
  bool has_cost_place = false;  // otherwise its cost is behind those that have one
};

// Returns the rows of a table, from above: figures that are better than every bound, the best first; then
// bounds, by cost, since a greater bound tells nothing of a smaller one; then the other figures; then
// contestants that are not ranked, and those without a figure. Where there are bounds and no place at all,
// all figures are ordered by cost.
std::vector<std::size_t> row_order(std::span<const RowFacts> rows);

// Returns the mark before a throughput: "≥ " before a lower bound, "? " before one that may be a bound.
const char* bound_mark(bool at_least, bool limit_unknown);

}  // namespace joust::report
