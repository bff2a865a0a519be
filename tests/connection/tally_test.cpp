// SPDX-License-Identifier: MIT
#include "connection/tally.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace joust {
namespace {

TEST(Describe, SaysWhatWasTriedOrWhatHappened) {
  EXPECT_EQ(describe({Stage::connect, ECONNREFUSED, "127.0.0.1:1"}),
            "connect 127.0.0.1:1: Connection refused");
  EXPECT_EQ(describe({Stage::receive, ECONNRESET, {}}), "receive: Connection reset by peer");
  EXPECT_EQ(describe({Stage::timeout, 0, "no reply"}), "timeout: no reply");
  EXPECT_EQ(describe({Stage::resolve, 0, "'x:1': unknown"}), "resolve 'x:1': unknown");
}

TEST(TallyTest, KeepsWhatIsMissingOnce) {
  Tally tally;
  tally.missing("multishot receive");
  tally.missing("multishot receive");
  EXPECT_EQ(tally.missing(), std::vector<std::string>{"multishot receive"});
  EXPECT_TRUE(tally.notes().empty());
}

}  // namespace
}  // namespace joust
