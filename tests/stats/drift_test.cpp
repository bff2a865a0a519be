// SPDX-License-Identifier: MIT
#include "stats/drift.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "stats/random.hpp"

namespace joust::stats {
namespace {

using Values = std::vector<double>;

TEST(ChangeBetweenHalves, ComparesTheirMedians) {
  EXPECT_DOUBLE_EQ(change_between_halves(Values{100, 100, 120, 120}), 0.2);
  EXPECT_DOUBLE_EQ(change_between_halves(Values{100, 7, 50}), -0.5);  // the middle belongs to neither
  EXPECT_DOUBLE_EQ(change_between_halves(Values{100, 100, 900, 100, 100, 100}), 0);
  EXPECT_TRUE(std::isnan(change_between_halves(Values{100})));
  EXPECT_TRUE(std::isnan(change_between_halves({})));
}

TEST(LeastSquares, FindsTheLine) {
  const Line line = least_squares(Values{90, 95, 100, 105, 110});
  EXPECT_DOUBLE_EQ(line.slope, 5);
  EXPECT_DOUBLE_EQ(line.change, 0.2);  // 20 of 100
  EXPECT_DOUBLE_EQ(least_squares(Values{1, 3, 2, 4}).slope, 0.8);
  EXPECT_TRUE(std::isnan(least_squares(Values{1}).slope));
}

// Twelve rounds of four contestants, the second twice as fast as the others, in shuffled order; `factor`
// tells what the place of a measurement does to it. Noise of up to 1 %.
std::vector<Observation> race(const std::function<double(std::size_t round, std::size_t position)>& factor) {
  Random random(11);
  std::vector<Observation> observations;
  for (std::size_t round = 0; round < 12; ++round) {
    std::array<std::size_t, 4> order{0, 1, 2, 3};
    shuffle(order, random);
    for (std::size_t position = 0; position < order.size(); ++position) {
      const double noise = 1 + static_cast<double>(draw_below(random, 1001)) * 1e-5;
      const double level = order[position] == 1 ? 200 : 100;
      observations.push_back({order[position], round, position, level * noise * factor(round, position)});
    }
  }
  return observations;
}

TEST(Effects, AQuietRaceHasNone) {
  const auto quiet = race([](auto, auto) { return 1.0; });
  EXPECT_LT(position_effect(quiet, 1).spread, 0.01);
  EXPECT_GT(position_effect(quiet, 1).chance, 0.05);
  EXPECT_LT(round_effect(quiet, 1).spread, 0.01);
  EXPECT_GT(round_effect(quiet, 1).chance, 0.05);
}

TEST(Effects, AFirstPositionThatCostsTenPerCentIsSeen) {
  const auto cold = race([](auto, std::size_t position) { return position == 0 ? 0.9 : 1.0; });
  EXPECT_NEAR(position_effect(cold, 1).spread, 0.11, 0.03);
  EXPECT_LT(position_effect(cold, 1).chance, 0.01);
  EXPECT_GT(round_effect(cold, 1).chance, 0.01);
}

TEST(Effects, ASlowRoundIsSeenAndLeavesThePositionsAlone) {
  const auto disturbed = race([](std::size_t round, auto) { return round == 5 ? 0.7 : 1.0; });
  EXPECT_NEAR(round_effect(disturbed, 1).spread, 1 / 0.7 - 1, 0.03);
  EXPECT_LT(round_effect(disturbed, 1).chance, 0.01);
  EXPECT_GT(position_effect(disturbed, 1).chance, 0.01);
}

TEST(Effects, OnePlaceCannotDifferFromAnother) {
  const std::vector<Observation> one_round = {{0, 0, 0, 10}, {1, 0, 1, 20}};
  EXPECT_DOUBLE_EQ(round_effect(one_round, 1).spread, 0);
  EXPECT_DOUBLE_EQ(round_effect(one_round, 1).chance, 1);
  EXPECT_DOUBLE_EQ(position_effect({}, 1).spread, 0);
}

}  // namespace
}  // namespace joust::stats
