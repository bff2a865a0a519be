// SPDX-License-Identifier: MIT
#include "stats/median_polish.hpp"

#include <algorithm>
#include <cmath>

#include "stats/summary.hpp"

namespace joust::stats {
namespace {

// Polishing converges quickly, but need not reach a fixed point.
constexpr int kMostSweeps = 20;
constexpr double kSmallChange = 1e-6;

class Polish {
 public:
  explicit Polish(const TwoWayTable& rows) : rests_(rows) {
    for (const auto& row : rests_) columns_ = std::max(columns_, row.size());
    for (auto& row : rests_) row.resize(columns_);
    row_effects_.assign(rests_.size(), 0);
    column_effects_.assign(columns_, 0);
  }

  std::vector<double> run() {
    for (int sweep = 0; sweep < kMostSweeps; ++sweep)
      if (sweep_rows() + sweep_columns() < kSmallChange) break;
    const double overall = middle(row_effects_);
    std::vector<double> figures = column_effects_;
    for (std::size_t column = 0; column < columns_; ++column) {
      const bool empty =
          std::ranges::none_of(rests_, [&](const auto& row) { return row[column].has_value(); });
      figures[column] = empty ? std::nan("") : figures[column] + overall;
    }
    return figures;
  }

 private:
  static double middle(std::vector<double> values) { return values.empty() ? 0 : median(values); }

  // Each takes the medians out of the cells, and returns the greatest of them.
  double sweep_rows() {
    double greatest = 0;
    for (std::size_t row = 0; row < rests_.size(); ++row) {
      std::vector<double> cells;
      for (const auto& cell : rests_[row])
        if (cell) cells.push_back(*cell);
      const double effect = middle(cells);
      for (auto& cell : rests_[row])
        if (cell) *cell -= effect;
      row_effects_[row] += effect;
      greatest = std::max(greatest, std::abs(effect));
    }
    return greatest;
  }

  double sweep_columns() {
    double greatest = 0;
    for (std::size_t column = 0; column < columns_; ++column) {
      std::vector<double> cells;
      for (const auto& row : rests_)
        if (row[column]) cells.push_back(*row[column]);
      const double effect = middle(cells);
      for (auto& row : rests_)
        if (row[column]) *row[column] -= effect;
      column_effects_[column] += effect;
      greatest = std::max(greatest, std::abs(effect));
    }
    return greatest;
  }

  TwoWayTable rests_;
  std::size_t columns_ = 0;
  std::vector<double> row_effects_, column_effects_;
};

}  // namespace

std::vector<double> median_polish(const TwoWayTable& rows) {
  return Polish(rows).run();
}

}  // namespace joust::stats
