// SPDX-License-Identifier: MIT
#include "report/row_order.hpp"

#include <gtest/gtest.h>

namespace joust::report {
namespace {

using Order = std::vector<std::size_t>;

RowFacts figure(double throughput, std::optional<std::uint64_t> first_place) {
  return {.is_ranked = true, .is_bound = false, .first_place = first_place, .figure = -throughput};
}

RowFacts bound(double throughput, double cost) {
  return {.is_ranked = true, .is_bound = true, .first_place = {}, .figure = -throughput, .cost = cost};
}

TEST(RowOrder, HasFiguresThenBoundsByCost) {
  const std::vector<RowFacts> rows{bound(80, 2), bound(90, 3), figure(150, 2), figure(200, 1), bound(70, 1)};
  EXPECT_EQ(row_order(rows), (Order{3, 2, 4, 0, 1}));
}

TEST(RowOrder, HasAFigureBehindTheBoundsThatExceedIt) {
  const std::vector<RowFacts> rows{figure(50, 3), bound(106, 2), bound(68, 1)};
  EXPECT_EQ(row_order(rows), (Order{2, 1, 0}));
}

// The noisy one is not known to be behind the bound. Above it stood a figure that is better.
TEST(RowOrder, HasNoFigureAboveABetterOne) {
  const std::vector<RowFacts> rows{bound(106, 1), figure(100, 2), figure(90, 1), figure(200, 1)};
  EXPECT_EQ(row_order(rows), (Order{3, 0, 1, 2}));
}

TEST(RowOrder, HasFiguresWithoutPlacesAboveBoundsOfWhichNothingIsKnown) {
  const std::vector<RowFacts> rows{bound(106, 1), bound(68, 2), figure(200, {})};
  EXPECT_EQ(row_order(rows), (Order{2, 0, 1}));
}

TEST(RowOrder, EndsWithWhatIsNotRankedOrDidNotRun) {
  RowFacts wrong = figure(300, {});
  wrong.is_ranked = false;
  const std::vector<RowFacts> rows{RowFacts{}, wrong, bound(106, 1), figure(50, 2)};
  EXPECT_EQ(row_order(rows), (Order{2, 3, 1, 0}));
}

}  // namespace
}  // namespace joust::report
