// SPDX-License-Identifier: MIT
#include "cli/common/command_line.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace joust {
namespace {

TEST(MeantOption, IsNearOrBeginsSo) {
  const std::vector<std::string> options{"--rounds", "--connections", "--connect-timeout", "--listen",
                                         "--root"};
  EXPECT_EQ(meant_option("--rouds", options), "--rounds");
  EXPECT_EQ(meant_option("--rouds=5", options), "--rounds");
  EXPECT_EQ(meant_option("--conections", options), "--connections");
  EXPECT_EQ(meant_option("-listen", options), "--listen");
  EXPECT_EQ(meant_option("--lis", options), "--listen");
  EXPECT_EQ(meant_option("--connect-", options), "--connect-timeout");
  EXPECT_EQ(meant_option("--conn", options), "") << "two begin so";
  EXPECT_EQ(meant_option("--nothing", options), "");
  EXPECT_EQ(meant_option("--", options), "");
}

TEST(MeantOption, IsTheOneOfTheSameMeaning) {
  EXPECT_EQ(meant_option("--port", std::vector<std::string>{"--root", "--listen"}), "--listen");
  EXPECT_EQ(meant_option("--port", std::vector<std::string>{"--connect"}), "--connect");
  EXPECT_EQ(meant_option("--timeout=1s", std::vector<std::string>{"--idle-timeout"}), "--idle-timeout");
  EXPECT_EQ(meant_option("--port", std::vector<std::string>{"--rounds"}), "");
}

}  // namespace
}  // namespace joust
