// SPDX-License-Identifier: MIT
#include "connection/tally.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace joust {
namespace {

TEST(Describe, SaysWhatWasTriedOrWhatHappened) {
  EXPECT_EQ(describe({Stage::connect, ECONNREFUSED, "127.0.0.1:1"}),
            "connect 127.0.0.1:1: Connection refused");
  EXPECT_EQ(describe({Stage::receive, ECONNRESET, {}}), "receive: Connection reset by peer");
  EXPECT_EQ(describe({Stage::timeout, 0, "no reply"}), "timeout: no reply");
  EXPECT_EQ(describe({Stage::resolve, 0, "'x:1': unknown"}), "resolve 'x:1': unknown");
}

TEST(Describe, SaysWhyAnAddressCannotBeReached) {
  const std::string unreachable = ": Network is unreachable", down = " (the loopback device is down: ip link";
  for (const std::string address : {"127.0.0.1:9", "[::1]:9"})
    EXPECT_TRUE(describe({Stage::connect, ENETUNREACH, address})
                    .starts_with("connect " + address + unreachable + down));
  EXPECT_EQ(describe({Stage::connect, ENETUNREACH, "192.0.2.1:9"}), "connect 192.0.2.1:9" + unreachable);
  EXPECT_NE(describe({Stage::connect, EADDRNOTAVAIL, "127.0.0.1:9"}).find("all local ports"),
            std::string::npos);
  EXPECT_TRUE(describe({Stage::connect, EADDRNOTAVAIL, "[::1]:9"}).ends_with("assign requested address"))
      << "IPv6 may be turned off";
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

TEST(TallyTest, CountsWhatAChildProcessCounts) {
  Tally tally;
  const pid_t child = ::fork();
  if (child == 0) {
    tally.opened += 2;
    tally.failed({Stage::verify, 0, "the child's own words"});
    tally.note("from a child");
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(tally.opened, 2U);
  EXPECT_EQ(tally.failures(Stage::verify), 1U);
  EXPECT_EQ(tally.complaints(), std::vector<std::string>{"verify: the child's own words"});
  EXPECT_EQ(tally.notes(), std::vector<std::string>{"from a child"});
}

TEST(DistinctTextsTest, KeepsTheFirstFewDifferentOnesAndTheirBeginning) {
  DistinctTexts texts;
  const std::string endless(1000, 'x');
  texts.keep(endless);
  for (int i = 0; i < 20; ++i) texts.keep("text " + std::to_string(i % 10));
  const std::vector<std::string> all = texts.all();
  ASSERT_EQ(all.size(), DistinctTexts::kKept);
  EXPECT_EQ(all.front(), endless.substr(0, DistinctTexts::kLongest));
  EXPECT_EQ(all.back(), "text 6");
}

TEST(DistinctTextsTest, KeepsATextOnceThoughThreadsKeepItAtTheSameTime) {
  DistinctTexts texts;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread)
      threads.emplace_back([&] {
        for (int i = 0; i < 1000; ++i) texts.keep(i % 2 == 0 ? "one" : "other");
      });
  }
  std::vector<std::string> all = texts.all();
  std::ranges::sort(all);
  EXPECT_EQ(all, (std::vector<std::string>{"one", "other"}));
}

}  // namespace
}  // namespace joust
