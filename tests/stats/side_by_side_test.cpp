// SPDX-License-Identifier: MIT
#include "stats/side_by_side.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "stats/noise.hpp"

namespace joust::stats {
namespace {

TEST(SideBySide, AnAdditiveTableIsTakenApart) {
  const std::vector<double> levels = levels_side_by_side({{1, 2, 4}, {11, 12, 14}, {6, 7, 9}});
  ASSERT_EQ(levels.size(), 3U);
  EXPECT_NEAR(levels[1] - levels[0], 1, 1e-12);
  EXPECT_NEAR(levels[2] - levels[0], 3, 1e-12);
  EXPECT_NEAR(levels[0] + levels[1] + levels[2], 6 + 7 + 9, 1e-12);
}

TEST(SideBySide, ADisturbedRowChangesNothingAndACellLittle) {
  TwoWayTable rows(21, {1.0, 2.0, 3.0});
  rows[5] = {-50, -49, -48};
  rows[7] = {1, -70, 3};
  const std::vector<double> levels = levels_side_by_side(rows);
  EXPECT_NEAR(levels[1] - levels[0], 1, 1e-9);
  EXPECT_NEAR(levels[2] - levels[0], 2, 1e-9);
}

TEST(SideBySide, HolesAreLeftOut) {
  const std::vector<double> levels = levels_side_by_side({{1, 2, {}}, {11, 12, {}}, {6, {}, {}}});
  EXPECT_NEAR(levels[1] - levels[0], 1, 1e-9);
  EXPECT_TRUE(std::isnan(levels[2]));
}

TEST(SideBySide, NothingYieldsNothing) {
  EXPECT_TRUE(levels_side_by_side({}).empty());
  EXPECT_EQ(levels_side_by_side({{4.0}, {6.0}, {5.0}}), (std::vector<double>{5}));
}

// A difference far below the noise of a single row is found, and not drawn towards zero.
TEST(SideBySide, SmallDifferencesAreNotLost) {
  Random random(5);
  double sum = 0;
  constexpr int kTables = 200;
  for (int i = 0; i < kTables; ++i) {
    TwoWayTable rows;
    for (int row = 0; row < 60; ++row) {
      const double common = 0.3 * noise::normal(random);
      rows.push_back({common + 0.03 * noise::normal(random), common + 0.03 * noise::normal(random),
                      common + 0.01 + 0.03 * noise::normal(random)});
    }
    const std::vector<double> levels = levels_side_by_side(rows);
    sum += levels[2] - levels[0];
  }
  EXPECT_NEAR(sum / kTables, 0.01, 0.002);
}

}  // namespace
}  // namespace joust::stats
