// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/text.hpp"
#include "stats/comparison.hpp"

// Parts of the tables of a race, for a terminal and for a page.
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

// Returns contestants in the order of these rows. A contestant is that of a race or that of a page. `figure`
// and `cost` return what it is ordered by, where it is known; a figure that is no latency is a throughput.
template <typename Contestant, typename Figure, typename Cost>
std::vector<const Contestant*> in_row_order(const std::vector<const Contestant*>& all, bool by_latency,
                                            Figure figure, Cost cost) {
  std::vector<RowFacts> rows;
  for (const Contestant* one : all) {
    RowFacts& row = rows.emplace_back();
    row.is_ranked = one->ranked || one->at_least;
    row.is_bound = one->may_be_faster() && !by_latency;
    row.has_place = one->place.has_value();
    row.figure = figure(*one);
    if (row.figure && !by_latency) row.figure = -*row.figure;
    row.cost = cost(*one);
    row.has_cost_place = one->cost_place.has_value();
  }
  std::vector<const Contestant*> ordered;
  for (const std::size_t number : row_order(rows)) ordered.push_back(all[number]);
  return ordered;
}

// Returns places in words: "1", or "1-3" where only a range is known; `none` without a place.
std::string place_text(const std::optional<stats::Places>& places, std::string_view none = kNone,
                       std::string_view to = "-");

// Returns a percentile in words: "4.83 ms", or "~4.83 ms" where few samples lie beyond it.
std::string percentile_text(const std::optional<double>& ns, bool few_beyond);

// Returns the mark before a throughput: "≥ " before a lower bound, "? " before one that may be a bound.
const char* bound_mark(bool at_least, bool limit_unknown);

}  // namespace joust::report
