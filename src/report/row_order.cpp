// SPDX-License-Identifier: MIT
#include "report/row_order.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

namespace joust::report {
namespace {

constexpr double kWorst = std::numeric_limits<double>::infinity();

// Returns whether more contestants are known to be better than figures are: one of them is a bound.
bool is_behind_a_bound(const RowFacts& row, std::span<const RowFacts> rows) {
  if (row.is_bound || !row.first_place || !row.figure) return false;
  const auto better = std::ranges::count_if(rows, [&](const RowFacts& other) {
    return !other.is_bound && other.first_place && other.figure && *other.figure < *row.figure;
  });
  return *row.first_place > 1 + static_cast<std::uint64_t>(better);
}

}  // namespace

std::vector<std::size_t> row_order(std::span<const RowFacts> rows) {
  double best_behind = kWorst;
  for (const RowFacts& row : rows)
    if (is_behind_a_bound(row, rows)) best_behind = std::min(best_behind, *row.figure);
  const auto key = [&](std::size_t number) -> std::tuple<int, int, double> {
    const RowFacts& row = rows[number];
    if (!row.figure) return {4, 0, 0};
    if (!row.is_ranked) return {3, 0, *row.figure};
    if (row.is_bound) return {1, row.cost ? 0 : 1, row.cost.value_or(*row.figure)};
    return {*row.figure >= best_behind ? 2 : 0, 0, *row.figure};
  };
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, key);
  return order;
}

}  // namespace joust::report
