// SPDX-License-Identifier: MIT
#include "base/watches.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "base/system/events.hpp"

namespace joust {
namespace {

using std::chrono::milliseconds;

// Two pauses that a process saw: up to now, and since then.
using Pauses = std::array<Duration, 2>;

// Runs in a process of its own, which stops itself and is continued by its parent.
[[noreturn]] void watch_and_report(int to) {
  PauseWatch watch;
  std::this_thread::sleep_for(milliseconds(300));
  ::raise(SIGSTOP);
  std::this_thread::sleep_for(milliseconds(600));
  const Pauses seen{watch.take(), watch.take()};
  ::_exit(::write(to, &seen, sizeof seen) == sizeof seen ? 0 : 1);
}

TEST(PauseWatch, TellsOnceHowLongItsProcessWasHeld) {
  const OpenPipe pipe = open_pipe(O_CLOEXEC);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) watch_and_report(pipe.into.get());
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status));
  std::this_thread::sleep_for(milliseconds(1500));
  ::kill(child, SIGCONT);
  Pauses seen{};
  ASSERT_EQ(::read(pipe.from.get(), &seen, sizeof seen), static_cast<ssize_t>(sizeof seen));
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_GE(seen[0], milliseconds(1200));
  EXPECT_LT(seen[1], seen[0]);
}

}  // namespace
}  // namespace joust
