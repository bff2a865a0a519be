// SPDX-License-Identifier: MIT
#include "stats/side_by_side.hpp"

#include <algorithm>
#include <cmath>

#include "stats/intervals.hpp"
#include "stats/summary.hpp"

namespace joust::stats {
namespace {

double centre_of(const std::vector<double>& values) {
  return values.empty() ? std::nan("") : centre(values, {}).estimate;
}

std::vector<double> column_of(const TwoWayTable& rows, std::size_t column) {
  std::vector<double> cells;
  for (const auto& row : rows)
    if (column < row.size() && row[column]) cells.push_back(*row[column]);
  return cells;
}

// Returns column `one` less column `other`, in the rows that have both.
std::vector<double> differences(const TwoWayTable& rows, std::size_t one, std::size_t other) {
  std::vector<double> values;
  for (const auto& row : rows)
    if (std::max(one, other) < row.size() && row[one] && row[other])
      values.push_back(*row[one] - *row[other]);
  return values;
}

}  // namespace

std::vector<double> levels_side_by_side(const TwoWayTable& rows) {
  std::size_t columns = 0;
  for (const auto& row : rows) columns = std::max(columns, row.size());
  std::vector<double> levels(columns, std::nan(""));
  std::vector<std::size_t> filled;
  for (std::size_t column = 0; column < columns; ++column)
    if (!column_of(rows, column).empty()) filled.push_back(column);
  if (filled.empty()) return levels;

  // With a difference for every pair, the mean of a column's differences from all columns is the
  // least-squares fit of its distance from their mean level.
  double sum = 0;
  for (const std::size_t column : filled) sum += median(column_of(rows, column));
  const double overall = sum / static_cast<double>(filled.size());
  for (const std::size_t column : filled) levels[column] = overall;
  for (auto one = filled.begin(); one != filled.end(); ++one)
    for (auto other = filled.begin(); other != one; ++other) {
      const double share = centre_of(differences(rows, *one, *other)) / static_cast<double>(filled.size());
      levels[*one] += share;
      levels[*other] -= share;
    }
  return levels;
}

}  // namespace joust::stats
