// SPDX-License-Identifier: MIT
#include "session/handler_session.hpp"

#include <gtest/gtest.h>

namespace joust {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class LeastRateTest : public testing::Test {
 protected:
  void expect(bool owed, bool waited_for = true) { rate_.expect(owed, waited_for, now_); }
  bool missed_after(Duration time) { return rate_.missed(now_ += time); }

  RateRule rule_{.least = 100, .window = seconds(10)};
  LeastRate rate_{rule_};
  Time now_{seconds(1000)};
};

TEST_F(LeastRateTest, IsMissedByAPeerThatMovesTooLittleInAWindow) {
  expect(true);
  EXPECT_EQ(rate_.deadline(), now_ + seconds(10));
  rate_.moved(999);
  EXPECT_FALSE(missed_after(milliseconds(9'999)));
  EXPECT_TRUE(missed_after(milliseconds(1)));
  EXPECT_EQ(rate_.complaint(), "slower than 100 B/s for 10.0 s");
}

TEST_F(LeastRateTest, IsKeptWindowByWindow) {
  expect(true);
  for (int i = 0; i < 5; ++i) {
    rate_.moved(1000);
    EXPECT_FALSE(missed_after(seconds(10)));
  }
  EXPECT_TRUE(missed_after(seconds(10))) << "a fast start does not pay for a stop";
}

TEST_F(LeastRateTest, DoesNotCountTheTimeInWhichNobodyWaits) {
  expect(true);
  now_ += seconds(6);
  expect(true, false);
  EXPECT_FALSE(rate_.deadline());
  EXPECT_FALSE(missed_after(seconds(100)));
  expect(true);
  EXPECT_EQ(rate_.deadline(), now_ + seconds(4));
  EXPECT_TRUE(missed_after(seconds(4)));
}

TEST_F(LeastRateTest, BeginsAnewForWhatIsOwedLater) {
  expect(true);
  now_ += seconds(9);
  expect(false);
  EXPECT_FALSE(rate_.deadline());
  expect(true);
  EXPECT_EQ(rate_.deadline(), now_ + seconds(10));
}

TEST_F(LeastRateTest, OfNothingIsNeverMissed) {
  rule_.least = 0;
  expect(true);
  EXPECT_FALSE(rate_.deadline());
  EXPECT_FALSE(missed_after(seconds(100)));
}

}  // namespace
}  // namespace joust
