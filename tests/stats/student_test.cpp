// SPDX-License-Identifier: MIT
#include "stats/intervals.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace joust::stats {
namespace {

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
