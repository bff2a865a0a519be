// SPDX-License-Identifier: MIT
#include "stats/median_polish.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "stats/summary.hpp"

namespace joust::stats {
namespace {

TEST(MedianPolish, AnAdditiveTableIsTakenApartExactly) {
  const std::vector<double> figures = median_polish({{1, 2, 4}, {11, 12, 14}, {6, 7, 9}});
  ASSERT_EQ(figures.size(), 3U);
  EXPECT_DOUBLE_EQ(figures[0], 6);
  EXPECT_DOUBLE_EQ(figures[1], 7);
  EXPECT_DOUBLE_EQ(figures[2], 9);
}

TEST(MedianPolish, TwoColumnsDifferByTheMedianOfTheirDifferences) {
  const TwoWayTable rows{{1.0, 1.3}, {5.0, 5.1}, {2.0, 2.9}, {7.0, 7.2}, {3.0, 3.5}};
  const std::vector<double> figures = median_polish(rows);
  EXPECT_NEAR(figures[1] - figures[0], 0.3, 1e-6);
}

TEST(MedianPolish, ADisturbedRowOrCellChangesNothing) {
  const std::vector<double> quiet = median_polish({{1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {1, 2, 3}});
  const std::vector<double> disturbed =
      median_polish({{1, 2, 3}, {-50, -49, -48}, {1, 2, 3}, {1, -70, 3}, {1, 2, 3}});
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(disturbed[i], quiet[i], 1e-6);
}

TEST(MedianPolish, HolesAreLeftOut) {
  const std::vector<double> figures = median_polish({{1, 2, {}}, {11, 12, {}}, {6, {}, {}}});
  EXPECT_NEAR(figures[1] - figures[0], 1, 1e-6);
  EXPECT_TRUE(std::isnan(figures[2]));
}

TEST(MedianPolish, NothingYieldsNothing) {
  EXPECT_TRUE(median_polish({}).empty());
}

}  // namespace
}  // namespace joust::stats
