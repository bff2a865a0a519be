// SPDX-License-Identifier: MIT
#include "stats/comparison.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace joust::stats {
namespace {

TEST(Family, SharesTheRiskAmongAllPairs) {
  EXPECT_EQ(Family(0).pairs(), 1u);
  EXPECT_EQ(Family(1).pairs(), 1u);
  EXPECT_EQ(Family(2).pairs(), 1u);
  EXPECT_EQ(Family(5).pairs(), 10u);
  EXPECT_DOUBLE_EQ(Family(5).of_each(), 0.995);
  EXPECT_DOUBLE_EQ(Family(5).together(0.995), 0.95);
  EXPECT_DOUBLE_EQ(Family(17).together(0.75), 0);
}

TEST(PairedLogRatios, CompareWithinTheRound) {
  const PairedLogRatios ratios = paired_log_ratios(Rounds{200, 50}, Rounds{100, 100});
  ASSERT_EQ(ratios.values.size(), 2u);
  EXPECT_DOUBLE_EQ(ratios.values[0], std::log(2));
  EXPECT_DOUBLE_EQ(ratios.values[1], -std::log(2));
  EXPECT_EQ(ratios.left_out, 0u);
}

TEST(PairedLogRatios, LeaveOutAndCountRoundsInWhichEitherIsMissing) {
  const PairedLogRatios ratios = paired_log_ratios(Rounds{1, {}, 3, {}, 0, 6, 7}, Rounds{1, 2, {}, {}, 5, 6});
  EXPECT_EQ(ratios.values, (std::vector<double>{0, 0}));  // the first round and the sixth
  EXPECT_EQ(ratios.left_out, 5u);
}

TEST(Compare, SeesASmallDifferenceThroughRoundsThatDifferALot) {
  // Rounds vary fourfold; the contestant is 4 to 6 % ahead in each of them.
  const Rounds reference = {100, 400, 150, 310, 220, 180, 260};
  const double factors[] = {1.05, 1.04, 1.06, 1.05, 1.045, 1.055, 1.05};
  Rounds contestant;
  for (std::size_t i = 0; i < reference.size(); ++i) contestant.push_back(*reference[i] * factors[i]);
  const Ratio ratio = compare(contestant, reference, Family(2));
  EXPECT_NEAR(ratio.estimate, 1.05, 1e-3);
  EXPECT_GE(ratio.interval.low, 1.04 - 1e-12);
  EXPECT_LE(ratio.interval.high, 1.06 + 1e-12);
  EXPECT_GE(ratio.coverage, 0.95);
  EXPECT_EQ(ratio.rounds, 7u);
}

TEST(Compare, SwappingTheTwoInvertsTheRatio) {
  const Rounds one = {10, 14, 9, 12, 11}, other = {8, 9, 9, 10, 7};
  const Ratio ratio = compare(one, other, Family(2)), inverse = compare(other, one, Family(2));
  EXPECT_NEAR(ratio.estimate, 1 / inverse.estimate, 1e-12);
  EXPECT_NEAR(ratio.interval.low, 1 / inverse.interval.high, 1e-12);
  EXPECT_NEAR(ratio.interval.high, 1 / inverse.interval.low, 1e-12);
}

TEST(Compare, OneRoundGivesARatioButNoInterval) {
  const Ratio ratio = compare(Rounds{3}, Rounds{2}, Family(2));
  EXPECT_DOUBLE_EQ(ratio.estimate, 1.5);
  EXPECT_FALSE(ratio.is_known());
  EXPECT_DOUBLE_EQ(ratio.interval.low, 0);
}

TEST(Compare, TwoRoundsGiveAWideInterval) {
  const Ratio ratio = compare(Rounds{300, 303}, Rounds{100, 100}, Family(2));
  EXPECT_TRUE(ratio.is_known());
  EXPECT_DOUBLE_EQ(ratio.coverage, 0.95);
  EXPECT_NEAR(ratio.interval.low, 3 * std::pow(1.01, -9), 1e-9) << "nine times the range for 95 %";
}

TEST(Compare, KeepsAnIntervalThatIsALittleShort) {
  const Rounds one = {10, 14, 9, 12, 11, 13, 15, 12}, other = {8, 9, 9, 10, 7, 10, 9, 11};
  const Ratio kept = compare(one, other, Family(5));
  EXPECT_NEAR(kept.coverage, 1 - 2.0 / 256, 1e-9) << "of 99.5 %; 92 % together";
  EXPECT_NEAR(kept.interval.low, 1, 1e-12) << "the least of the ratios";
  const Ratio wide = compare(one, other, Family(6));
  EXPECT_NEAR(wide.coverage, 1 - 0.05 / 15, 1e-9) << "88 % together would be too little";
  EXPECT_LT(wide.interval.low, 1);
}

TEST(Compare, NoCommonRoundGivesNothing) {
  const Ratio ratio = compare(Rounds{3, {}}, Rounds{{}, 2}, Family(2));
  EXPECT_TRUE(std::isnan(ratio.estimate));
  EXPECT_FALSE(ratio.is_known());
  EXPECT_EQ(ratio.rounds, 0u);
  EXPECT_EQ(ratio.left_out, 2u);
}

}  // namespace
}  // namespace joust::stats
