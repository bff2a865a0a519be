// SPDX-License-Identifier: MIT
#include "stats/ties.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "stats/random.hpp"

namespace joust::stats {
namespace {

constexpr Bootstrap kBootstrap{.seed = 1};

// Ten rounds near `level`, each its own way off by up to half a per cent.
Rounds near(double level, unsigned contestant) {
  Rounds rounds;
  for (unsigned i = 0; i < 10; ++i)
    rounds.push_back(level * (1 + 0.001 * (static_cast<double>((i * 7 + contestant * 3) % 11) - 5)));
  return rounds;
}

Ratio ratio_between(double low, double high) {
  return {std::sqrt(low * high), {low, high}, 10, 0};
}

TEST(LeastDifference, IsTheFartherEndOfWhatTheReferenceDiffersFromItself) {
  EXPECT_NEAR(aa_spread(ratio_between(0.97, 1.05)), 0.05, 1e-12);
  EXPECT_NEAR(aa_spread(ratio_between(0.8, 1.05)), 0.25, 1e-12);
  EXPECT_NEAR(least_difference(ratio_between(0.97, 1.05)), 0.05, 1e-12);
}

TEST(LeastDifference, IsNeverBelowTwoPerCent) {
  EXPECT_DOUBLE_EQ(least_difference(ratio_between(0.999, 1.001)), 0.02);
}

TEST(LeastDifference, IsInfiniteWhenTheReferenceWasNotComparedWithItself) {
  const Ratio unknown = compare(Rounds{5}, Rounds{5}, kBootstrap);
  EXPECT_TRUE(std::isinf(least_difference(unknown)));
  EXPECT_TRUE(tied(ratio_between(2, 3), least_difference(unknown)));
}

TEST(Tied, WhenTheIntervalReachesIntoWhatCannotBeTold) {
  EXPECT_TRUE(tied(ratio_between(1.01, 1.5), 0.02));
  EXPECT_FALSE(tied(ratio_between(1.03, 1.5), 0.02));
  EXPECT_TRUE(tied(ratio_between(0.5, 0.985), 0.02));
  EXPECT_FALSE(tied(ratio_between(0.5, 0.97), 0.02));
}

TEST(TieGroups, EqualsShareAGroupWhateverTheOrderTheyAreGivenIn) {
  const std::vector<Rounds> contestants = {near(100, 1), near(150, 2), near(100.5, 3), near(151, 4),
                                           near(50, 5)};
  EXPECT_EQ(tie_groups(contestants, 0.02, kBootstrap), (std::vector{2, 1, 2, 1, 3}));
}

TEST(TieGroups, AGreaterLeastDifferenceMergesGroups) {
  const std::vector<Rounds> contestants = {near(100, 1), near(106, 2)};
  EXPECT_EQ(tie_groups(contestants, 0.02, kBootstrap), (std::vector{2, 1}));
  EXPECT_EQ(tie_groups(contestants, 0.10, kBootstrap), (std::vector{1, 1}));
}

TEST(TieGroups, TheLeaderDecidesWhereTiesFormAChain) {
  // Each ties with its neighbour, the first not with the last: the middle one joins the best.
  const std::vector<Rounds> chain = {near(100, 0), near(98.5, 0), near(97, 0)};
  EXPECT_EQ(tie_groups(chain, 0.02, kBootstrap), (std::vector{1, 1, 2}));
}

TEST(TieGroups, TwiceTheSameContestantIsHardlyEverToldApart) {
  Random random(7);
  const auto noisy = [&random] {  // up to 10 % off either way
    Rounds rounds;
    for (int i = 0; i < 10; ++i)
      rounds.push_back(90 + static_cast<double>(draw_below(random, 20'001)) / 1000);
    return rounds;
  };
  int told_apart = 0;
  for (int race = 0; race < 200; ++race) {
    const std::vector contestants = {noisy(), noisy()};
    told_apart += tie_groups(contestants, kLeastDifference, kBootstrap) == std::vector{1, 1} ? 0 : 1;
  }
  EXPECT_LE(told_apart, 10);  // 5 %
}

TEST(TieGroups, AWideIntervalTies) {
  const Rounds steady(10, 100.0);
  const Rounds wild = {50, 180, 60, 150, 120, 90, 55, 170, 80, 160};
  EXPECT_EQ(tie_groups(std::vector{steady, wild}, 0.02, kBootstrap), (std::vector{1, 1}));
}

TEST(TieGroups, OneRoundTellsNobodyApart) {
  EXPECT_EQ(tie_groups(std::vector<Rounds>{{100}, {300}}, 0.02, kBootstrap), (std::vector{1, 1}));
}

TEST(TieGroups, WhoHasNoFiguresHasNoGroup) {
  const std::vector<Rounds> contestants = {Rounds(10), near(100, 1), Rounds{}, near(50, 2)};
  EXPECT_EQ(tie_groups(contestants, 0.02, kBootstrap), (std::vector{0, 1, 0, 2}));
  EXPECT_TRUE(tie_groups({}, 0.02, kBootstrap).empty());
}

}  // namespace
}  // namespace joust::stats
