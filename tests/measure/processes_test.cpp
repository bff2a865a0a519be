// SPDX-License-Identifier: MIT
#include "measure/processes.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <latch>
#include <thread>

#include "joust/time.hpp"
#include "measure/affinity.hpp"

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

TEST(ThreadGroups, AThreadThatHasPinnedItselfAndIsNiceIsAGroupOfItsOwn) {
  const std::vector<int> cpus = allowed_cpus();
  std::latch changed(1), read(1);
  const std::jthread other([&] {
    pin_to({&cpus.back(), 1});
    ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 7);
    changed.count_down();
    read.wait();
  });
  changed.wait();
  const pid_t self = ::getpid();
  const std::vector<ThreadGroup> groups = thread_groups({&self, 1});
  read.count_down();
  EXPECT_EQ(
      std::ranges::count(
          groups,
          ThreadGroup{.cpus = format_cpus({&cpus.back(), 1}), .nice = 7, .policy = "other", .threads = 1}),
      1);
  const ThreadGroup own = own_thread_group();
  EXPECT_EQ(own.cpus, format_cpus(cpus));
  EXPECT_EQ(own.threads, 1U);
  EXPECT_TRUE(std::ranges::any_of(
      groups, [&](const ThreadGroup& group) { return group.cpus == own.cpus && group.nice == own.nice; }));
}

TEST(ThreadGroups, AProcessThatHasEndedHasNone) {
  const pid_t none = 1 << 22;
  EXPECT_TRUE(thread_groups({&none, 1}).empty());
}

}  // namespace
}  // namespace joust
