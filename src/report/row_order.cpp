// SPDX-License-Identifier: MIT
#include "report/row_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "base/units.hpp"

namespace joust::report {

std::vector<std::size_t> row_order(std::span<const RowFacts> rows) {
  double best_bound = std::numeric_limits<double>::infinity();
  const bool no_place = std::ranges::none_of(rows, &RowFacts::has_place);
  for (const RowFacts& row : rows)
    if (row.is_bound && row.figure) best_bound = std::min(best_bound, *row.figure);
  const auto key = [&](std::size_t number) -> std::tuple<int, int, double> {
    const RowFacts& row = rows[number];
    if (!row.figure) return {4, 0, 0};
    if (!row.is_ranked) return {3, 0, *row.figure};
    if (row.is_bound || (no_place && std::isfinite(best_bound)))
      return {1, row.has_cost_place ? 0 : 1, row.cost.value_or(0)};
    return {*row.figure < best_bound ? 0 : 2, 0, *row.figure};
  };
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, key);
  return order;
}

std::string place_text(const std::optional<stats::Places>& places, std::string_view none,
                       std::string_view to) {
  if (!places) return std::string(none);
  return places->first == places->last ? fmt::format("{}", places->first)
                                       : fmt::format("{}{}{}", places->first, to, places->last);
}

std::string percentile_text(const std::optional<double>& ns, bool few_beyond) {
  return (ns && few_beyond ? "~" : "") + or_none(ns, format_ns);
}

const char* bound_mark(bool at_least, bool limit_unknown) {
  return at_least ? "≥ " : limit_unknown ? "? " : "";
}

}  // namespace joust::report
