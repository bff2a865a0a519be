// SPDX-License-Identifier: MIT
#include "stats/decision.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

namespace joust::stats {
namespace {

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
