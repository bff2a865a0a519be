// SPDX-License-Identifier: MIT
#include "report/row_order.hpp"

#include <gtest/gtest.h>

namespace joust::report {
namespace {

using Order = std::vector<std::size_t>;

RowFacts figure(double throughput) {
  return {.is_ranked = true, .is_bound = false, .has_place = true, .figure = -throughput};
}

RowFacts bound(double throughput, double cost) {
  return {.is_ranked = true, .is_bound = true, .figure = -throughput, .cost = cost, .has_cost_place = true};
}

TEST(RowOrder, HasFiguresThenBoundsByCost) {
  const std::vector<RowFacts> rows{bound(80, 2), bound(90, 3), figure(150), figure(200), bound(70, 1)};
  EXPECT_EQ(row_order(rows), (Order{3, 2, 4, 0, 1}));
}

TEST(RowOrder, HasNoFigureAboveAGreaterBoundNorABetterFigure) {
  const std::vector<RowFacts> rows{figure(50), bound(106, 2), figure(90), bound(68, 1), figure(200)};
  EXPECT_EQ(row_order(rows), (Order{4, 3, 1, 2, 0}));
}

TEST(RowOrder, HasBoundsByCostWhereNoCostHasAPlace) {
  std::vector<RowFacts> rows{bound(90, 2), bound(80, 1), bound(70, 3)};
  for (RowFacts& row : rows) row.has_cost_place = false;
  EXPECT_EQ(row_order(rows), (Order{1, 0, 2}));
  rows[2].has_cost_place = true;
  EXPECT_EQ(row_order(rows), (Order{2, 1, 0})) << "the CPU time of a server that polls is no cost";
}

TEST(RowOrder, EndsWithWhatIsNotRankedOrDidNotRun) {
  RowFacts wrong = figure(300);
  wrong.is_ranked = false;
  const std::vector<RowFacts> rows{RowFacts{}, wrong, bound(106, 1), figure(50)};
  EXPECT_EQ(row_order(rows), (Order{2, 3, 1, 0}));
}

TEST(RowOrder, IsThatOfCostWhereNothingHasAPlace) {
  std::vector<RowFacts> rows{bound(80, 2), bound(90, 3), figure(70)};
  rows[2].has_place = false, rows[2].cost = 1, rows[2].has_cost_place = true;
  EXPECT_EQ(row_order(rows), (Order{2, 0, 1}));
}

TEST(RowOrder, HasTheLeastLatencyFirst) {
  const std::vector<RowFacts> rows{figure(-20), figure(-10)};
  EXPECT_EQ(row_order(rows), (Order{1, 0}));
}

}  // namespace
}  // namespace joust::report
