// SPDX-License-Identifier: MIT
#include "stats/comparison.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

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

// A ratio whose estimate is the middle of its interval, and which is hardly a matter of chance if the
// interval does not contain 1.
Ratio between(double low, double high) {
  const bool tells = low > 1 || high < 1;
  return {.estimate = std::sqrt(low * high),
          .interval = {low, high},
          .chance = tells ? 0.001 : 0.5,
          .rounds = 10};
}

TEST(AaSpread, IsTheFartherEndOfWhatTheReferenceDiffersFromItself) {
  EXPECT_NEAR(aa_spread(between(0.97, 1.05)), 0.05, 1e-12);
  EXPECT_NEAR(aa_spread(between(0.8, 1.05)), 0.25, 1e-12);
  EXPECT_TRUE(std::isinf(aa_spread(compare(Rounds{1}, Rounds{1}))));
}

TEST(Decide, DifferWhenToldApartByAsMuchAsCounts) {
  EXPECT_EQ(decide(between(1.005, 1.045), {}), Decision::differ);
  EXPECT_EQ(decide(between(0.96, 0.995), {}), Decision::differ);
  EXPECT_EQ(decide(between(1.021, 1.023), {}), Decision::differ) << "though within the range of the equal";
  Ratio by_chance = between(1.005, 1.045);
  by_chance.chance = 0.02;
  EXPECT_EQ(decide(by_chance, {}), Decision::probable)
      << "1 is outside, but equals show that in 2 of 100 races";
}

TEST(Decide, EqualWhenTheWholeIntervalIsWithinTheRange) {
  EXPECT_EQ(decide(between(0.98, 1.02), {}), Decision::equal);
  EXPECT_EQ(decide(between(1.012, 1.018), {}), Decision::equal) << "told apart, but by less than counts";
  EXPECT_EQ(decide(between(0.98, 1.02), {.equal = 0.01}), Decision::undecided);
  EXPECT_EQ(decide(between(0.98, 1.02), {.equal = 0.0205}), Decision::equal);
}

TEST(Decide, SlightWhereTheDirectionIsToldAndTheSizeIsOpen) {
  EXPECT_EQ(decide(between(1.001, 1.035), {}), Decision::slight) << "1.018 is less than counts";
  EXPECT_EQ(decide(between(0.969, 0.999), {}), Decision::slight);
}

TEST(Decide, UndecidedOtherwise) {
  EXPECT_EQ(decide(between(0.995, 1.055), {}), Decision::undecided) << "1 is possible, and so is 5 %";
  EXPECT_EQ(decide(compare(Rounds{5}, Rounds{1}), {}), Decision::undecided) << "one round";
}

TEST(RoundsToRuleOut, GrowWithTheSquareOfTheWidth) {
  EXPECT_NEAR(rounds_to_rule_out(between(1 / 1.06, 1.06), {}), 4, 0.2) << "3 % either way is wanted";
  EXPECT_NEAR(rounds_to_rule_out(between(1.05 / 1.06, 1.05 * 1.06), {}), 4, 0.2) << "whatever the estimate";
  EXPECT_EQ(rounds_to_rule_out(between(0.99, 1.01), {}), 1);
  EXPECT_TRUE(std::isinf(rounds_to_rule_out(compare(Rounds{5}, Rounds{1}), {})));
}

std::vector<Places> places(std::size_t contestants,
                           const std::set<std::pair<std::size_t, std::size_t>>& better) {
  return places_of(contestants, [&](std::size_t a, std::size_t b) { return better.contains({a, b}); });
}

TEST(Places, AreRangesWhereNotEverythingIsKnown) {
  EXPECT_EQ(places(3, {{0, 1}, {0, 2}, {1, 2}}), (std::vector<Places>{{1, 1}, {2, 2}, {3, 3}}));
  EXPECT_EQ(places(3, {}), (std::vector<Places>{{1, 3}, {1, 3}, {1, 3}}));
  EXPECT_EQ(places(3, {{0, 2}, {1, 2}}), (std::vector<Places>{{1, 2}, {1, 2}, {3, 3}}));
  EXPECT_TRUE(places(0, {}).empty());
}

// A noisy one that is told from nobody does not bring the others together.
TEST(Places, ANoisyContestantMergesNobody) {
  EXPECT_EQ(places(3, {{0, 1}}), (std::vector<Places>{{1, 2}, {2, 3}, {1, 3}}));
}

}  // namespace
}  // namespace joust::stats
