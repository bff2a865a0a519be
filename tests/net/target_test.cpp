// SPDX-License-Identifier: MIT
#include "net/target.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cerrno>
#include <vector>

#include "net/listener.hpp"
#include "temporary_folder.hpp"

namespace joust {
namespace {

Target target_of(const std::string& address) {
  return {"t", resolve(address).value(), {}};
}

int connect_to(const Target& target, const Fd& socket) {
  return ::connect(socket.get(), target.endpoint(0).raw(), target.endpoint(0).size) == 0 ? 0 : errno;
}

TEST(TargetTest, KnowsTheFullQueueOfAUnixSocket) {
  const test::TemporaryFolder folder;
  const Target target = target_of("unix:" + folder.file("s"));
  const Listener listener(target.endpoint(0), {.backlog = 1});
  std::vector<Fd> queued;
  int error = 0;
  while (error == 0 && queued.size() < 10) {
    queued.push_back(target.make_socket(0, SOCK_NONBLOCK));
    error = connect_to(target, queued.back());
  }
  EXPECT_TRUE(is_full_backlog(error, AF_UNIX)) << error;
  listener.accept(0);
  EXPECT_EQ(connect_to(target, queued.back()), 0) << "another try succeeds when there is room";
}

TEST(TargetTest, TakesNothingElseForAFullQueue) {
  const test::TemporaryFolder folder;
  const Target nobody = target_of("unix:" + folder.file("nobody"));
  EXPECT_FALSE(is_full_backlog(connect_to(nobody, nobody.make_socket(0, SOCK_NONBLOCK)), AF_UNIX));
  EXPECT_FALSE(is_full_backlog(EAGAIN, AF_INET)) << "of TCP: no port of this side is free";
}

}  // namespace
}  // namespace joust
