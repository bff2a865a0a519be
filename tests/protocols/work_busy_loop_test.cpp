// SPDX-License-Identifier: MIT
#include "protocols/work/server.hpp"

#include <gtest/gtest.h>
#include <time.h>

namespace joust {
namespace {

Duration cpu_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// Half the time, because a core may run faster later than in any trial; other programs do not count.
TEST(BusyLoopTest, TakesItsTimeOfTheProcessor) {
  const BusyLoop loop(busy_loop_rounds_per_us());
  for (const int milliseconds : {2, 20}) {
    const Duration time = std::chrono::milliseconds(milliseconds);
    const Duration before = cpu_time();
    loop.spend(time);
    EXPECT_GE(cpu_time() - before, time / 2);
  }
}

TEST(BusyLoopTest, NothingTakesNoTime) {
  const BusyLoop loop(busy_loop_rounds_per_us());
  const Duration before = cpu_time();
  for (int i = 0; i < 1000; ++i) loop.spend(Duration{});
  EXPECT_LT(cpu_time() - before, std::chrono::milliseconds(10));
}

}  // namespace
}  // namespace joust
