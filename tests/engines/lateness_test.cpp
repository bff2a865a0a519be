// SPDX-License-Identifier: MIT
#include "engines/loop/waiting.hpp"

#include <gtest/gtest.h>

namespace joust::test {
namespace {

using std::chrono::milliseconds;

const Time kDue = Clock::now();

TEST(LatenessOfALoop, ADeadlineThatIsHardlyLateDoesNotWait) {
  Lateness lateness;
  EXPECT_FALSE(lateness.puts_off(kDue, true, kDue + milliseconds(99)));
  EXPECT_FALSE(lateness.is_putting_off());
  EXPECT_EQ(lateness.sleeps_until(kDue), kDue);
}

TEST(LatenessOfALoop, AfterAPauseTheThreadSleepsUntilInputOrForTenMilliseconds) {
  Lateness lateness;
  const Time awake = kDue + milliseconds(500);
  EXPECT_TRUE(lateness.puts_off(kDue, false, awake));
  EXPECT_EQ(lateness.sleeps_until(kDue), awake + milliseconds(10)) << "it would spin until then";
  EXPECT_EQ(lateness.sleeps_until(awake + milliseconds(70)), awake + milliseconds(70));
  EXPECT_FALSE(lateness.puts_off(kDue, false, awake + milliseconds(10)));
  EXPECT_EQ(lateness.sleeps_until(kDue), kDue);
}

TEST(LatenessOfALoop, InputPutsDeadlinesOffForTwoSecondsAtMost) {
  Lateness lateness;
  const Time awake = kDue + milliseconds(500);
  for (int ms = 0; ms < 2000; ms += 5) ASSERT_TRUE(lateness.puts_off(kDue, true, awake + milliseconds(ms)));
  EXPECT_FALSE(lateness.puts_off(kDue, true, awake + milliseconds(2000)));
}

}  // namespace
}  // namespace joust::test
