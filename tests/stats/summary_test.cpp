// SPDX-License-Identifier: MIT
#include "stats/summary.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace joust::stats {
namespace {

using Values = std::vector<double>;

TEST(Summary, MeanAndMedian) {
  EXPECT_DOUBLE_EQ(mean(Values{1, 2, 6}), 3);
  EXPECT_DOUBLE_EQ(median(Values{6, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(median(Values{6, 1, 2, 4}), 3);
  EXPECT_DOUBLE_EQ(median(Values{7}), 7);
}

TEST(Summary, QuantilesAreThoseOfRAndNumPy) {
  const Values values = {15, 20, 35, 40, 50};  // quantile(x, p, type = 7) in R
  EXPECT_DOUBLE_EQ(quantile(values, 0), 15);
  EXPECT_DOUBLE_EQ(quantile(values, 0.05), 16);
  EXPECT_DOUBLE_EQ(quantile(values, 0.25), 20);
  EXPECT_DOUBLE_EQ(quantile(values, 0.4), 29);
  EXPECT_DOUBLE_EQ(quantile(values, 0.95), 48);
  EXPECT_DOUBLE_EQ(quantile(values, 1), 50);
}

TEST(Summary, RelativeSpreadIsByHowMuchTheGreatestExceedsTheLeast) {
  EXPECT_DOUBLE_EQ(variance(Values{110, 100, 120}), 100);
  EXPECT_TRUE(std::isnan(variance(Values{110})));
  EXPECT_DOUBLE_EQ(relative_spread(Values{110, 100, 125}), 0.25);
  EXPECT_DOUBLE_EQ(relative_spread(Values{3}), 0);
}

TEST(Summary, AnEmptySampleHasNoFigures) {
  EXPECT_TRUE(std::isnan(mean({})));
  EXPECT_TRUE(std::isnan(median({})));
  EXPECT_TRUE(std::isnan(quantile({}, 0.5)));
  EXPECT_TRUE(std::isnan(relative_spread({})));
}

}  // namespace
}  // namespace joust::stats
