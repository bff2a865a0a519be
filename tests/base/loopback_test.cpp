// SPDX-License-Identifier: MIT
#include "base/system/sockets.hpp"

#include <gtest/gtest.h>

namespace joust {
namespace {

TEST(Loopback, HasItsAddresses) {
  for (const char* text : {"127.0.0.1", "127.1.2.3", "127.255.255.255", "::1", "0:0:0:0:0:0:0:1", "0::1",
                           "::ffff:127.0.0.1", "::FFFF:7f00:1"})
    EXPECT_TRUE(is_loopback_address(text)) << text;
}

TEST(Loopback, HasNoOthers) {
  for (const char* text : {"",
                           "128.0.0.1",
                           "126.255.255.255",
                           "10.0.0.1",
                           "0.0.0.0",
                           "::",
                           "::2",
                           "::ffff:10.0.0.1",
                           "127.1",
                           "127",
                           "2130706433",
                           "0x7f.0.0.1",
                           "0177.0.0.1",
                           "127.0.0.1.",
                           "127.0.0.1:80",
                           "127.0.0.1.example",
                           "[::1]",
                           "::1%lo",
                           "localhost",
                           " 127.0.0.1",
                           "127.0.0.256"})
    EXPECT_FALSE(is_loopback_address(text)) << text;
  EXPECT_FALSE(is_loopback_address(std::string_view("127.0.0.1\0.example", 18)));
}

}  // namespace
}  // namespace joust
