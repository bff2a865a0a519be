// SPDX-License-Identifier: MIT
//
// What only the engines on Qt have to promise.
#include <gtest/gtest.h>

#include <poll.h>

#include <csignal>

#include "engines/running.hpp"

namespace joust::test {
namespace {

class QtEngines : public testing::Test {
 protected:
  void SetUp() override {
    const Engine& any = *find_engine("qt");
    if (any.unavailable && !any.unavailable().empty()) GTEST_SKIP() << any.unavailable();
  }
};

TEST_F(QtEngines, ClientsBeyondThePoolWaitAndAreCounted) {
  HandlerService echo = echo_service();
  RunningServer server(*find_engine("qt-pool"), echo, {}, {.threads = 2});
  {
    Fd first = connect_to(server.address()), second = connect_to(server.address());
    for (const Fd* peer : {&first, &second}) {
      send_all(*peer, "me");
      EXPECT_EQ(receive(*peer, 2), "me");
    }
    const Fd third = connect_to(server.address());
    send_all(third, "and me");
    pollfd reply{.fd = third.get(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&reply, 1, 50), 0) << "both threads are occupied";
    second.close();
    EXPECT_EQ(receive(third, 6), "and me");
  }
  server.finish();
  const std::vector<std::string> expected{"1 of 3 clients waited for one of the 2 threads (-t)"};
  EXPECT_EQ(server.tally.notes(), expected);
}

TEST_F(QtEngines, AStopAnswersClientsThatWait) {
  HandlerService echo = echo_service(Line{});
  RunningServer server(*find_engine("qt-pool"), echo, {}, {.threads = 1});
  Fd served = connect_to(server.address());
  send_all(served, "x\n");
  EXPECT_EQ(receive(served, 2), "x\n");
  const Fd waiting = connect_to(server.address());
  send_all(waiting, "y\n");
  server.stop.request();
  EXPECT_TRUE(at_end(served));
  served.close();
  EXPECT_EQ(receive(waiting, 3), "y\n");
}

// Qt ignores it, in the whole process, at the first write.
TEST_F(QtEngines, LeaveSigpipeAsItWas) {
  HandlerService echo = echo_service();
  RunningServer server(*find_engine("qt"), echo);
  const Fd peer = connect_to(server.address());
  send_all(peer, "x");
  EXPECT_EQ(receive(peer, 1), "x");
  server.finish();
  struct sigaction now {};
  ::sigaction(SIGPIPE, nullptr, &now);
  EXPECT_EQ(now.sa_handler, SIG_DFL);
}

}  // namespace
}  // namespace joust::test
