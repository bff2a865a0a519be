// SPDX-License-Identifier: MIT
#include "stats/intervals.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "stats/noise.hpp"

namespace joust::stats {
namespace {

using Values = std::vector<double>;

Location centre_of(std::span<const double> values, double confidence) {
  return centre(values, place_of_centre(values.size(), confidence));
}

Interval wide(const Values& values, double confidence) {
  return widened(centre_of(values, confidence), values.size(), confidence).interval;
}

// Tables of order statistics: ranks of the 95 % interval of a median.
TEST(PlaceOfMedian, IsThatOfTheTables) {
  const std::pair<std::size_t, std::size_t> table[] = {{6, 1},  {7, 1},  {8, 1},  {9, 2},  {10, 2},
                                                       {15, 4}, {20, 6}, {25, 8}, {30, 10}};
  for (const auto& [n, rank] : table) EXPECT_EQ(place_of_median(n, 0.95).rank, rank) << n;
  EXPECT_NEAR(place_of_median(6, 0.95).coverage, 0.96875, 1e-9);
  EXPECT_NEAR(place_of_median(7, 0.95).coverage, 0.984375, 1e-9);
  EXPECT_NEAR(place_of_median(9, 0.95).coverage, 0.9609375, 1e-9);
  EXPECT_NEAR(place_of_median(10, 0.95).coverage, 0.978515625, 1e-9);
  EXPECT_NEAR(place_of_median(8, 0.92).coverage, 0.9296875, 1e-9) << "the second to the seventh of eight";
}

TEST(PlaceOfMedian, OfTooFewValuesIsTheWholeRangeWithWhatItReaches) {
  EXPECT_EQ(place_of_median(5, 0.95).rank, 1u);
  EXPECT_NEAR(place_of_median(5, 0.95).coverage, 0.9375, 1e-9);
  EXPECT_NEAR(place_of_median(2, 0.95).coverage, 0.5, 1e-9);
  EXPECT_EQ(place_of_median(1, 0.95).coverage, 0);
  EXPECT_EQ(place_of_median(0, 0.95).coverage, 0);
}

TEST(PlaceOfMedian, ReachesExactlyWhatWasAskedFor) {
  EXPECT_EQ(place_of_median(10, 1 - 22.0 / 1024).rank, 2u);
  EXPECT_EQ(place_of_median(10, 1 - 21.9 / 1024).rank, 1u);
}

// Critical values of Wilcoxon's signed-rank statistic, two-sided, as in the tables of most textbooks. The
// rank of the interval is one more.
TEST(PlaceOfCentre, IsThatOfTheTables) {
  const std::pair<std::size_t, std::size_t> at_5_per_cent[] = {
      {6, 0},   {7, 2},   {8, 3},   {9, 5},   {10, 8},  {11, 10}, {12, 13}, {13, 17},
      {14, 21}, {15, 25}, {16, 29}, {17, 34}, {18, 40}, {19, 46}, {20, 52}, {30, 137}};
  const std::pair<std::size_t, std::size_t> at_1_per_cent[] = {
      {8, 0}, {9, 1}, {10, 3}, {11, 5}, {12, 7}, {13, 9}, {14, 12}, {15, 15}, {20, 37}, {30, 109}};
  for (const auto& [n, critical] : at_5_per_cent) EXPECT_EQ(place_of_centre(n, 0.95).rank, critical + 1) << n;
  for (const auto& [n, critical] : at_1_per_cent) EXPECT_EQ(place_of_centre(n, 0.99).rank, critical + 1) << n;
  EXPECT_NEAR(place_of_centre(6, 0.95).coverage, 1 - 2.0 / 64, 1e-9);
  EXPECT_NEAR(place_of_centre(8, 0.95).coverage, 1 - 2 * 5.0 / 256, 1e-9);
  EXPECT_NEAR(place_of_centre(10, 0.95).coverage, 1 - 2 * 25.0 / 1024, 1e-9);
}

// The exact ranks and coverages of 101 and 150 values were counted with whole numbers.
TEST(PlaceOfCentre, OfManyValuesIsByTheNormalDistribution) {
  EXPECT_EQ(place_of_centre(100, 0.95).rank, 1956u) << "exact";
  EXPECT_NEAR(static_cast<double>(place_of_centre(101, 0.95).rank), 1998, 2);
  EXPECT_NEAR(place_of_centre(101, 0.95).coverage, 0.950464, 4e-4);
  EXPECT_NEAR(static_cast<double>(place_of_centre(150, 0.995).rank), 4174, 10);
  EXPECT_NEAR(place_of_centre(150, 0.995).coverage, 0.995240, 4e-4);
}

// The depression scale of Hollander and Wolfe, section 3.2: the estimate -0.46, the interval of 96.1 %.
TEST(Centre, OfATextbooksExample) {
  const Values scale = {-0.952, 0.147, -1.022, -0.430, -0.620, -0.590, -0.490, 0.080, -0.010};
  const Location location = centre_of(scale, 0.95);
  EXPECT_NEAR(location.estimate, -0.46, 1e-12);
  EXPECT_NEAR(location.interval.low, -0.786, 1e-12);
  EXPECT_NEAR(location.interval.high, -0.010, 1e-12);
  EXPECT_NEAR(location.coverage, 1 - 20.0 / 512, 1e-9);
}

TEST(MedianWithInterval, HasTheRankedValuesAsItsEnds) {
  const Location location = median_with_interval(Values{7, 1, 10, 4, 2, 9, 3, 8, 6, 5}, 0.95);
  EXPECT_DOUBLE_EQ(location.estimate, 5.5);
  EXPECT_EQ(location.interval, (Interval{2, 9}));
}

TEST(Intervals, OfFewerThanTwoValuesAreUnbounded) {
  for (const auto interval_of : {median_with_interval, centre_of}) {
    EXPECT_TRUE(std::isnan(interval_of({}, 0.95).estimate));
    const Location location = interval_of(Values{5}, 0.95);
    EXPECT_EQ(location.estimate, 5);
    EXPECT_FALSE(location.interval.is_known());
    EXPECT_TRUE(location.interval.contains(1e300));
    EXPECT_EQ(location.coverage, 0);
  }
}

TEST(Intervals, OfEqualValuesHaveNoWidth) {
  for (const auto interval_of : {median_with_interval, centre_of})
    EXPECT_EQ(interval_of(Values{5, 5, 5}, 0.95).interval, (Interval{5, 5}));
}

TEST(Widened, ReachesBeyondTheRangeOnlyWhereTheRanksAreTooFew) {
  const Values six = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(wide(six, 0.95), (Interval{1, 6}));
  const Interval wider = wide(six, 0.995);
  const double t = (1 - wider.low) / 5;  // of the range
  EXPECT_NEAR(std::pow(2 * (1 + t), -5), 0.005, 1e-12);
  EXPECT_NEAR(wider.low + wider.high, 7, 1e-12);
  EXPECT_FALSE(wide({5}, 0.95).is_known());
}

int missed_of_100000(noise::Shape shape, std::size_t n, double confidence) {
  Random random(3);
  int missed = 0;
  for (int i = 0; i < 100'000; ++i) {
    Values values(n);
    for (double& value : values) value = shape(random);
    missed += wide(values, confidence).contains(0) ? 0 : 1;
  }
  return missed;
}

TEST(Widened, ClaimsJustWhatUniformNoiseGrantsAndLessThanOthersDo) {
  const auto uniform = [](Random& random) { return noise::uniform(random) - 0.5; };
  EXPECT_NEAR(missed_of_100000(uniform, 4, 0.95), 5000, 250);
  EXPECT_LE(missed_of_100000(noise::normal, 4, 0.95), 5000);
  EXPECT_LE(missed_of_100000(noise::laplace, 6, 0.995), 500);
}

TEST(NormalQuantile, IsThatOfTheTables) {
  EXPECT_NEAR(normal_quantile(0.5), 0, 1e-12);
  EXPECT_NEAR(normal_quantile(0.975), 1.959964, 1e-6);
  EXPECT_NEAR(normal_quantile(0.0005), -3.290527, 1e-6);
}

// From the table of percentage points in Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.10.
TEST(Student, HasThePointsOfTheTable) {
  struct Point {
    std::size_t degrees;
    double probability, t;
  };
  for (const Point& point :
       {Point{1, 0.05, 12.706}, Point{2, 0.05, 4.303}, Point{5, 0.01, 4.032}, Point{10, 0.05, 2.228},
        Point{11, 0.001, 4.437}, Point{30, 0.01, 2.750}, Point{120, 0.05, 1.980}}) {
    SCOPED_TRACE(testing::Message() << point.degrees << " degrees, " << point.probability);
    EXPECT_NEAR(student_quantile(point.probability, point.degrees), point.t, 0.0006);
    EXPECT_NEAR(student_two_sided(point.t, point.degrees), point.probability, 1e-4 * point.t);
  }
}

TEST(Student, IsCertainAtNothingAndHopelessFarOut) {
  EXPECT_DOUBLE_EQ(student_two_sided(0, 7), 1);
  EXPECT_LT(student_two_sided(1e6, 7), 1e-12);
  EXPECT_GT(student_quantile(1e-7, 1), 1e6);
}

// Digamma of 1/2, 1 and 5 is -1.96351, -0.57722 and 1.50612: Abramowitz and Stegun, tables 6.1 and 6.2.
TEST(MeanLogVariance, IsDigammaLessTheLogarithm) {
  EXPECT_NEAR(mean_log_variance(1), -1.96351 - std::log(0.5), 1e-5);
  EXPECT_NEAR(mean_log_variance(2), -0.57722, 1e-5);
  EXPECT_NEAR(mean_log_variance(10), 1.50612 - std::log(5), 1e-5);
}

TEST(Student, VariancesDifferByTrigamma) {  // Abramowitz and Stegun, table 6.1
  EXPECT_NEAR(variance_of_log_variance(1), 4.93480, 1e-5);
  EXPECT_NEAR(variance_of_log_variance(2), 1.64493, 1e-5);
  EXPECT_NEAR(variance_of_log_variance(3), 0.93480, 1e-5);
  EXPECT_NEAR(variance_of_log_variance(4), 0.64493, 1e-5);
}

}  // namespace
}  // namespace joust::stats
