// SPDX-License-Identifier: MIT
#include "stats/comparison.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace joust::stats {
namespace {

TEST(LogRatios, CompareWithinTheRound) {
  const std::vector<double> ratios = known(log_ratios(Rounds{200, 50}, Rounds{100, 100}));
  ASSERT_EQ(ratios.size(), 2u);
  EXPECT_DOUBLE_EQ(ratios[0], std::log(2));
  EXPECT_DOUBLE_EQ(ratios[1], -std::log(2));
}

TEST(LogRatios, ARoundInWhichEitherIsMissingHasNone) {
  const Rounds one{1, {}, 3, {}, 0, 6, 7}, other{1, 2, {}, {}, 5, 6};
  EXPECT_EQ(log_ratios(one, other), (LogRatios{0, {}, {}, {}, {}, 0, {}}));
  EXPECT_EQ(compare(one, other).rounds, 2u);
  EXPECT_EQ(compare(one, other).left_out, 5u);
}

TEST(Compare, SeesASmallDifferenceThroughRoundsThatDifferALot) {
  // Rounds vary fourfold; the contestant is 4 to 6 % ahead in each of them.
  const Rounds reference = {100, 400, 150, 310, 220, 180, 260};
  const double factors[] = {1.05, 1.04, 1.06, 1.05, 1.045, 1.055, 1.05};
  Rounds contestant;
  for (std::size_t i = 0; i < reference.size(); ++i) contestant.push_back(*reference[i] * factors[i]);
  const Ratio ratio = compare(contestant, reference);
  EXPECT_NEAR(ratio.estimate, 1.05, 1e-3);
  EXPECT_GT(ratio.interval.low, 1.04);
  EXPECT_LT(ratio.interval.high, 1.06);
  EXPECT_LT(ratio.chance, 1e-6);
  EXPECT_EQ(ratio.rounds, 7u);
}

TEST(Compare, SwappingTheTwoInvertsTheRatio) {
  const Rounds one = {10, 14, 9, 12, 11}, other = {8, 9, 9, 10, 7};
  const Ratio ratio = compare(one, other), inverse = compare(other, one);
  EXPECT_NEAR(ratio.estimate, 1 / inverse.estimate, 1e-12);
  EXPECT_NEAR(ratio.interval.low, 1 / inverse.interval.high, 1e-12);
  EXPECT_NEAR(ratio.interval.high, 1 / inverse.interval.low, 1e-12);
}

TEST(Compare, OneRoundGivesARatioButNoInterval) {
  const Ratio ratio = compare(Rounds{3}, Rounds{2});
  EXPECT_DOUBLE_EQ(ratio.estimate, 1.5);
  EXPECT_FALSE(ratio.is_known());
  EXPECT_DOUBLE_EQ(ratio.interval.low, 0);
}

TEST(Compare, TwoRoundsGiveAWideInterval) {
  const Ratio ratio = compare(Rounds{300, 303}, Rounds{100, 100});
  EXPECT_TRUE(ratio.is_known());
  // t with one degree of freedom, for 93 % of 5 %: 13.67 standard errors.
  EXPECT_NEAR(std::log(ratio.interval.high / ratio.estimate), 13.67 * std::log(1.01) / 2, 1e-3);
}

// Nine rounds in which the first is 2 % ahead of the second, by more or less.
TEST(Comparisons, ShareTheErrorsAmongAllPairs) {
  const Rounds one = {1.02, 1.03, 1.01, 1.02, 1.04, 1.00, 1.02, 1.03, 1.01}, other(9, 1.0);
  const Ratio alone = compare(one, other);
  const std::vector<Rounds> five = {one, other, Rounds(9, 2.0), Rounds(9, 3.0), Rounds(9, 4.0)};
  const Comparisons among(five);
  EXPECT_EQ(among.pairs(), 10u);
  EXPECT_DOUBLE_EQ(among.of(0, 1).estimate, alone.estimate);
  EXPECT_GT(among.of(0, 1).interval.width(), alone.interval.width());
}

TEST(Comparisons, AnEarlyLookNeedsMore) {
  const std::vector<Rounds> two = {{1.02, 1.03, 1.01, 1.02, 1.04, 1.00}, Rounds(6, 1.0)};
  EXPECT_GT(Comparisons(two, Look::first).of(0, 1).interval.width(),
            Comparisons(two).of(0, 1).interval.width());
  EXPECT_GT(Comparisons(two, Look::first).of(0, 1).chance, Comparisons(two).of(0, 1).chance);
  EXPECT_DOUBLE_EQ(share_of(Look::first) + share_of(Look::second) + share_of(Look::last), 1);
}

// With three contestants, two of which certainly differ from the third, only one pair can be equal.
TEST(Comparisons, WhereSomeDifferFewerOthersCanBeEqual) {
  const Rounds one = {1.02, 1.03, 1.01, 1.02, 1.04, 1.00, 1.02, 1.03, 1.01}, other(9, 1.0);
  const Ratio far = Comparisons(std::vector{one, other, Rounds(9, 2.0)}).of(0, 1);
  const Ratio near = Comparisons(std::vector{one, other, one}).of(0, 1);
  EXPECT_LT(far.chance, near.chance);
}

TEST(Compare, NoCommonRoundGivesNothing) {
  const Ratio ratio = compare(Rounds{3, {}}, Rounds{{}, 2});
  EXPECT_TRUE(std::isnan(ratio.estimate));
  EXPECT_FALSE(ratio.is_known());
  EXPECT_EQ(ratio.rounds, 0u);
  EXPECT_EQ(ratio.left_out, 2u);
}

}  // namespace
}  // namespace joust::stats
