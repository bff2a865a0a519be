// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <poll.h>

#include <csignal>
#include <thread>

#include "net/stop.hpp"

namespace joust {
namespace {

bool readable(int fd, int wait_ms = 0) {
  pollfd watched{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&watched, 1, wait_ms) == 1;
}

TEST(StopTest, IsReadableFromTheFirstRequestOn) {
  Stop stop;
  EXPECT_FALSE(stop.requested());
  EXPECT_FALSE(readable(stop.fd()));
  stop.request();
  EXPECT_TRUE(stop.requested());
  EXPECT_FALSE(stop.at_once());
  EXPECT_TRUE(readable(stop.fd()));
  EXPECT_TRUE(readable(stop.fd())) << "for every loop that waits for it";
  EXPECT_FALSE(readable(stop.at_once_fd()));
  stop.request();
  EXPECT_TRUE(stop.at_once());
  EXPECT_TRUE(readable(stop.fd()));
  EXPECT_TRUE(readable(stop.at_once_fd()));
}

Stop* stop_of_the_handler = nullptr;

TEST(StopTest, MayBeRequestedFromASignalHandler) {
  Stop stop;
  stop_of_the_handler = &stop;
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = [](int) { stop_of_the_handler->request(); };
  ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);
  ::raise(SIGUSR1);
  EXPECT_TRUE(stop.requested());
  EXPECT_TRUE(readable(stop.fd()));
  ::sigaction(SIGUSR1, &before, nullptr);
}

TEST(WakerTest, WakesUntilCleared) {
  Waker waker;
  EXPECT_FALSE(readable(waker.fd()));
  waker.wake();
  waker.wake();
  EXPECT_TRUE(readable(waker.fd()));
  waker.clear();
  EXPECT_FALSE(readable(waker.fd()));
  waker.wake();
  EXPECT_TRUE(readable(waker.fd())) << "wakes again after a clear";
}

TEST(WakerTest, ClearingWithoutAWakeDoesNotBlock) {
  Waker waker;
  waker.clear();
  waker.wake();
  EXPECT_TRUE(readable(waker.fd()));
}

// What is put before a wake is seen after the clear that answers it, whatever the interleaving.
TEST(WakerTest, NoWakeIsMissed) {
  constexpr int kWakes = 20'000;
  Waker waker;
  std::atomic<int> put{0};
  std::jthread other([&] {
    for (int i = 0; i < kWakes; ++i) {
      put.fetch_add(1);
      waker.wake();
    }
  });
  int seen = 0;
  while (seen < kWakes) {
    ASSERT_TRUE(readable(waker.fd(), 20'000)) << "asleep with " << kWakes - seen << " to come";
    waker.clear();
    seen = put.load();
  }
}

}  // namespace
}  // namespace joust
