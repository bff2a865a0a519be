// SPDX-License-Identifier: MIT
#include "measure/process_times.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "joust/time.hpp"

namespace joust {
namespace {

TEST(BusiestShare, IsOfTheTimeBetweenTwoReadings) {
  EXPECT_EQ(busiest_share({{1, 900}, {2, 100}}, {{1, 1000}, {2, 400}}), 0.75);
  EXPECT_EQ(busiest_share({{1, 900}}, {{1, 1000}, {2, 300}}), 0.75) << "the second began meanwhile";
  EXPECT_EQ(busiest_share({{1, 900}}, {{1, 900}}), std::nullopt);
  EXPECT_EQ(busiest_share({}, {}), std::nullopt);
  EXPECT_EQ(busiest_share({{1, 900}}, {{1, 1000}}, 400e-9), 0.25) << "others have ended meanwhile";
}

#ifdef __linux__
TEST(ThreadTimes, AreOfEachThread) {
  const std::array processes{::getpid()};
  const ThreadTimes before = thread_times(processes);
  ASSERT_TRUE(before.contains(::gettid()));
  std::jthread busy([](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
    }
  });
  ThreadTimes now = before;
  for (const Time until = Clock::now() + std::chrono::seconds(60); Clock::now() < until;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    now = thread_times(processes);
    if (busiest_share(before, now).value_or(0) > 0.6) break;
  }
  EXPECT_GT(busiest_share(before, now).value_or(0), 0.6);
  EXPECT_EQ(now.size(), before.size() + 1);
}
#endif

}  // namespace
}  // namespace joust
