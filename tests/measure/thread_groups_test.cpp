// SPDX-License-Identifier: MIT
#include "measure/process_times.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <latch>
#include <thread>

#include "measure/affinity.hpp"

namespace joust {
namespace {

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
