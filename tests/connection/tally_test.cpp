// SPDX-License-Identifier: MIT
#include "connection/tally.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <new>
#include <stdexcept>
#include <system_error>

namespace joust {
namespace {

TEST(Describe, SaysWhatWasTriedOrWhatHappened) {
  EXPECT_EQ(describe({Stage::connect, ECONNREFUSED, "127.0.0.1:1"}),
            "connect 127.0.0.1:1: Connection refused");
  EXPECT_EQ(describe({Stage::receive, ECONNRESET, {}}), "receive: Connection reset by peer");
  EXPECT_EQ(describe({Stage::timeout, 0, "no reply"}), "timeout: no reply");
  EXPECT_EQ(describe({Stage::resolve, 0, "'x:1': unknown"}), "resolve 'x:1': unknown");
}

TEST(Describe, SaysWhichCallOfThisSideFailed) {
  const std::system_error refused(ENOSPC, std::generic_category(), "epoll_ctl(1, 9)");
  EXPECT_EQ(describe(failure_of(refused)), "local: epoll_ctl(1, 9): No space left on device");
  EXPECT_EQ(describe(failure_of(std::bad_alloc())), "local: Cannot allocate memory");
  EXPECT_EQ(describe(failure_of(std::runtime_error("the handler's own words"))),
            "local: the handler's own words");
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
