// SPDX-License-Identifier: MIT
#include "base/text.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace joust {
namespace {

TEST(Nearest, FindsWhatWasMeant) {
  const std::array<std::string, 4> words{"epoll", "threads", "io-uring", "null"};
  EXPECT_EQ(nearest("epol", words), "epoll");
  EXPECT_EQ(nearest("eppol", words), "epoll");
  EXPECT_EQ(nearest("thread", words), "threads");
  EXPECT_EQ(nearest("io_uring", words), "io-uring");
  EXPECT_EQ(nearest("iouring", words), "io-uring");
  EXPECT_EQ(nearest("thraeds", words), "threads");
  EXPECT_EQ(nearest("nlul", words), "null") << "neighbours have changed places";
}

TEST(Nearest, DoesNotGuessWildly) {
  const std::array<std::string, 4> words{"epoll", "threads", "io-uring", "null"};
  EXPECT_EQ(nearest("database", words), "");
  EXPECT_EQ(nearest("pull", std::array<std::string, 2>{"poll", "nulls"}), "poll");
  EXPECT_EQ(nearest("port", std::array<std::string, 1>{"root"}), "");
  EXPECT_EQ(nearest("lvl", std::array<std::string, 1>{"level"}), "level");
  EXPECT_EQ(nearest("epoll", {}), "");
}

}  // namespace
}  // namespace joust
