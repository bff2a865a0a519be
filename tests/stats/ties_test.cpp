// SPDX-License-Identifier: MIT
#include "stats/ties.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "stats/noise.hpp"
#include "stats/random.hpp"

namespace joust::stats {
namespace {

// Ten rounds near `level`, each its own way off by up to half a per cent.
Rounds near(double level, unsigned contestant) {
  Rounds rounds;
  for (unsigned i = 0; i < 10; ++i)
    rounds.push_back(level * (1 + 0.001 * (static_cast<double>((i * 7 + contestant * 3) % 11) - 5)));
  return rounds;
}

// A ratio whose estimate is the middle of its interval.
Ratio ratio_between(double low, double high) {
  return {.estimate = std::sqrt(low * high),
          .interval = {low, high},
          .coverage = 0.95,
          .rounds = 10,
          .left_out = 0};
}

std::vector<int> groups_of(const std::vector<Rounds>& contestants, double d = kLeastDifference,
                           Better better = Better::greater) {
  return tie_groups(contestants, Family(contestants.size()), d, better);
}

TEST(AaSpread, IsTheFartherEndOfWhatTheReferenceDiffersFromItself) {
  EXPECT_NEAR(aa_spread(ratio_between(0.97, 1.05)), 0.05, 1e-12);
  EXPECT_NEAR(aa_spread(ratio_between(0.8, 1.05)), 0.25, 1e-12);
}

TEST(LeastDifference, GrowsWithTheNoise) {
  const auto noisy = [](double noise) {
    Random random(5);
    std::vector<Rounds> entries(4);
    for (Rounds& rounds : entries)
      for (int i = 0; i < 12; ++i) rounds.push_back(std::exp(noise * noise::normal(random)));
    return least_difference(entries, Family(3));
  };
  EXPECT_EQ(noisy(0.001), kLeastDifference) << "two builds of one program differ as much";
  EXPECT_GT(noisy(0.05), 0.05);
  EXPECT_GT(noisy(0.10), 1.9 * noisy(0.05));
  EXPECT_LT(noisy(0.10), 2.3 * noisy(0.05));
}

TEST(LeastDifference, OneWildContestantAmongQuietOnesDoesNotSetIt) {
  const Rounds wild = {50, 180, 60, 150, 120, 90, 55, 170, 80, 160};
  EXPECT_EQ(least_difference(std::vector{near(100, 1), near(100, 2), near(90, 3), wild}, Family(4)),
            kLeastDifference);
}

TEST(LeastDifference, IsInfiniteWithoutASecondRound) {
  EXPECT_TRUE(std::isinf(least_difference(std::vector<Rounds>{{100}, {300}}, Family(2))));
  EXPECT_TRUE(std::isinf(least_difference(std::vector<Rounds>{near(100, 1)}, Family(1))));
}

TEST(Differ, WhenTheIntervalIsOnOneSideOfOneAndTheEstimateFarEnough) {
  EXPECT_TRUE(differ(ratio_between(1.005, 1.045), 0.02));
  EXPECT_TRUE(differ(ratio_between(0.96, 0.995), 0.02));
  EXPECT_FALSE(differ(ratio_between(0.995, 1.055), 0.02)) << "1 is possible";
  EXPECT_FALSE(differ(ratio_between(1.005, 1.03), 0.02)) << "1.017 is too near";
  EXPECT_FALSE(differ(ratio_between(0.975, 0.995), 0.02));
  EXPECT_FALSE(differ(compare(Rounds{5}, Rounds{1}, Family(2)), 0.02)) << "one round";
}

TEST(TieGroups, EqualsShareAGroupWhateverTheOrderTheyAreGivenIn) {
  const std::vector<Rounds> contestants = {near(100, 1), near(150, 2), near(100.5, 3), near(151, 4),
                                           near(50, 5)};
  EXPECT_EQ(groups_of(contestants), (std::vector{2, 1, 2, 1, 3}));
}

TEST(TieGroups, AGreaterLeastDifferenceMergesGroups) {
  const std::vector<Rounds> contestants = {near(100, 1), near(106, 2)};
  EXPECT_EQ(groups_of(contestants, 0.02), (std::vector{2, 1}));
  EXPECT_EQ(groups_of(contestants, 0.10), (std::vector{1, 1}));
}

TEST(TieGroups, OfCostsTheSmallestLeads) {
  const std::vector<Rounds> costs = {near(8, 1), near(4, 2), near(4.02, 3)};
  EXPECT_EQ(groups_of(costs, 0.02, Better::smaller), (std::vector{2, 1, 1}));
}

TEST(TieGroups, TheLeaderDecidesWhereTiesFormAChain) {
  // Each ties with its neighbour, the first not with the last: the middle one joins the best.
  const std::vector<Rounds> chain = {near(100, 0), near(98.5, 0), near(97, 0)};
  EXPECT_EQ(groups_of(chain), (std::vector{1, 1, 2}));
}

TEST(TieGroups, OneThatIsSlowerInEveryRoundDoesNotLead) {
  // The second is missing in the fast rounds, which lowers its median.
  Rounds steady, absent;
  for (int i = 0; i < 24; ++i) {
    const double level = (i % 2 == 0 ? 200 : 100) + i * 0.01;
    steady.push_back(level);
    absent.push_back(i % 2 == 0 ? std::nullopt : std::optional(level * (1.04 + i * 0.0001)));
  }
  EXPECT_EQ(groups_of({steady, absent}), (std::vector{2, 1}));
}

TEST(TieGroups, AWideIntervalTies) {
  const Rounds steady(10, 100.0);
  const Rounds wild = {50, 180, 60, 150, 120, 90, 55, 170, 80, 160};
  EXPECT_EQ(groups_of({steady, wild}), (std::vector{1, 1}));
}

TEST(TieGroups, OneRoundTellsNobodyApart) {
  EXPECT_EQ(groups_of({{100}, {300}}), (std::vector{1, 1}));
}

TEST(TieGroups, ThreeRoundsTellAThreefoldApart) {
  EXPECT_EQ(groups_of({{100, 101, 102}, {300, 305, 301}}), (std::vector{2, 1}));
  EXPECT_EQ(groups_of({{100, 101, 102}, {104, 102, 107}}), (std::vector{1, 1}));
}

TEST(TieGroups, WhoHasNoFiguresHasNoGroup) {
  const std::vector<Rounds> contestants = {Rounds(10), near(100, 1), Rounds{}, near(50, 2)};
  EXPECT_EQ(groups_of(contestants), (std::vector{0, 1, 0, 2}));
  EXPECT_TRUE(groups_of({}).empty());
}

}  // namespace
}  // namespace joust::stats
