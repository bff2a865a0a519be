// SPDX-License-Identifier: MIT
#include "stats/random.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>

namespace joust::stats {
namespace {

TEST(Random, TheSameSeedGivesTheSameOrderWithEveryLibrary) {
  Random random(2026);
  std::array order{0, 1, 2, 3, 4, 5, 6, 7};
  shuffle(order, random);
  EXPECT_EQ(order, (std::array{4, 7, 0, 6, 1, 3, 2, 5}));
}

TEST(Random, DrawsEveryNumberAboutEquallyOften) {
  Random random(1);
  std::array<int, 7> seen{};
  for (int i = 0; i < 70'000; ++i) ++seen.at(draw_below(random, seen.size()));
  for (const int times : seen) EXPECT_NEAR(times, 10'000, 500);  // five standard deviations
}

TEST(Random, ShufflesIntoEveryOrderAboutEquallyOften) {
  Random random(2);
  std::map<std::array<int, 3>, int> seen;
  for (int i = 0; i < 60'000; ++i) {
    std::array order{1, 2, 3};
    shuffle(order, random);
    ++seen[order];
  }
  EXPECT_EQ(seen.size(), 6u);
  for (const auto& [order, times] : seen) EXPECT_NEAR(times, 10'000, 500);
}

TEST(Random, ABoundOfOneLeavesNoChoice) {
  Random random(3);
  EXPECT_EQ(draw_below(random, 1), 0u);
}

}  // namespace
}  // namespace joust::stats
