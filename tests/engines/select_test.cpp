// SPDX-License-Identifier: MIT
//
// The engine select with descriptors that an fd_set has no room for.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <unistd.h>

#include <vector>

#include "engines/running.hpp"

namespace joust::test {
namespace {

// Takes the descriptors up to `highest`.
std::vector<Fd> take_descriptors(int highest) {
  std::vector<Fd> taken;
  do taken.emplace_back(checked(::dup(STDERR_FILENO), "dup()"));
  while (taken.back().get() < highest);
  return taken;
}

TEST(Select, ServesDescriptorsOfAnyNumber) {
  constexpr int kHighest = 3 * FD_SETSIZE;
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur < kHighest + 100) GTEST_SKIP() << "too few descriptors are allowed here";
  HandlerService echo = echo_service();
  const std::vector<Fd> taken = take_descriptors(kHighest);
  RunningServer server(*find_engine("select"), echo);
  std::vector<Fd> peers;
  for (int i = 0; i < 10; ++i) {
    peers.push_back(connect_to(server.address()));
    send_all(peers.back(), "x");
  }
  for (const Fd& peer : peers) EXPECT_EQ(receive(peer, 1), "x");
  peers.clear();
  server.finish();
  EXPECT_EQ(server.tally.opened, 10U);
  EXPECT_EQ(server.tally.failures(), 0U);
}

}  // namespace
}  // namespace joust::test
