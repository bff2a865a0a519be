// SPDX-License-Identifier: MIT
#include "base/signals.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <thread>

#include "base/fd.hpp"

namespace joust {
namespace {

bool is_blocked() {
  sigset_t now;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
  return ::sigismember(&now, SIGPIPE) == 1;
}

bool is_pending() {
  sigset_t pending;
  ::sigpending(&pending);
  return ::sigismember(&pending, SIGPIPE) == 1;
}

// Raises SIGPIPE for this thread, as sendfile() does: the process would end if nothing kept it away.
void write_to_nobody() {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ::close(ends[0]);
  const Fd into(ends[1]);
  EXPECT_EQ(::write(into.get(), "x", 1), -1);
  EXPECT_EQ(errno, EPIPE);
}

TEST(SigpipeBlockTest, LeavesTheThreadAsItWas) {
  ASSERT_FALSE(is_blocked());
  {
    const SigpipeBlock block;
    EXPECT_TRUE(is_blocked());
    write_to_nobody();
    EXPECT_TRUE(is_pending());
  }
  EXPECT_FALSE(is_blocked());
  EXPECT_FALSE(is_pending());
}

TEST(SigpipeBlockTest, PassesToThreads) {
  const SigpipeBlock block;
  std::thread([] { write_to_nobody(); }).join();
}

TEST(SigpipeBlockTest, LeavesAloneWhatIsNotItsOwn) {
  std::thread([] {
    const SigpipeBlock programs_own;
    write_to_nobody();
    { const SigpipeBlock engines; }
    EXPECT_TRUE(is_blocked());
    EXPECT_TRUE(is_pending());
  }).join();
}

}  // namespace
}  // namespace joust
