// SPDX-License-Identifier: MIT
#include "hosts/frame.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <string>
#include <thread>

namespace joust::hosts {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Two ends, as a process and its relay have them.
struct Ends {
  Ends() {
    std::array<int, 2> pair{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()), 0);
    one.emplace(Fd(pair[0]));
    other = Fd(pair[1]);
  }
  FrameSocket& second() { return another ? *another : another.emplace(std::move(other)); }
  void write(const std::string& bytes) {
    EXPECT_EQ(::send(other.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }

  std::optional<FrameSocket> one{}, another{};
  Fd other{};
};

Time soon() {
  return Clock::now() + seconds(60);
}

TEST(FrameSocket, PassesFrames) {
  Ends ends;
  const std::string body = "{\"text\":\"line\\n\"}\n";
  ASSERT_TRUE(ends.one->send({.rank = 3, .body = body}, soon()));
  ASSERT_TRUE(ends.one->send({.kind = Frame::Kind::ended, .rank = 1, .body = ""}, soon()));
  const auto first = ends.second().receive(soon());
  ASSERT_TRUE(first && *first);
  EXPECT_EQ((*first)->rank, 3);
  EXPECT_EQ((*first)->body, body);
  const auto second = ends.second().receive(soon());
  ASSERT_TRUE(second && *second);
  EXPECT_EQ((*second)->kind, Frame::Kind::ended);
}

TEST(FrameSocket, ReportsThatNothingHasCome) {
  Ends ends;
  for (const Time deadline : {Clock::now(), Time{}}) {
    const auto none = ends.one->receive(deadline);
    ASSERT_TRUE(none);
    EXPECT_FALSE(*none);
  }
}

// Neither end takes anything before it has sent all: more than the kernel's buffers hold.
TEST(FrameSocket, BothEndsMaySendAtTheSameTime) {
  Ends ends;
  const std::string body(std::size_t{4} << 20, 'x');
  FrameSocket& second = ends.second();
  std::thread other([&] {
    EXPECT_TRUE(second.send({.rank = 1, .body = body}, soon()));
    const auto frame = second.receive(soon());
    EXPECT_TRUE(frame && *frame && (*frame)->body == body);
  });
  EXPECT_TRUE(ends.one->send({.rank = 1, .body = body}, soon()));
  const auto frame = ends.one->receive(soon());
  EXPECT_TRUE(frame && *frame && (*frame)->body == body);
  other.join();
}

TEST(FrameSocket, TakesAFrameThatComesByteByByte) {
  Ends ends;
  for (const char byte : std::string("message 2 3\nabc")) {
    const auto none = ends.one->receive(Clock::now());
    ASSERT_TRUE(none);
    EXPECT_FALSE(*none);
    ends.write(std::string(1, byte));
  }
  const auto frame = ends.one->receive(soon());
  ASSERT_TRUE(frame && *frame);
  EXPECT_EQ((*frame)->body, "abc");
}

TEST(FrameSocket, RefusesWhatIsNoFrame) {
  for (const char* bytes : {"nonsense 1 2 3\n", "message -1 2 3\n", "message 1 99999999999 0\n",
                            "message 1 -5 0\n", "message 1\n", "\n", "message 1 x\n"}) {
    Ends ends;
    ends.write(bytes);
    EXPECT_FALSE(ends.one->receive(soon())) << bytes;
  }
  Ends ends;
  ends.write(std::string(500, 'x'));  // a head without an end
  EXPECT_FALSE(ends.one->receive(soon()));
}

TEST(FrameSocket, ReportsTheEnd) {
  Ends ends;
  ends.other.close();
  EXPECT_FALSE(ends.one->receive(soon()));
  EXPECT_FALSE(ends.one->send({.rank = 1, .body = "x"}, soon()));
}

TEST(FrameSocket, RefusesToSendWhatTheOtherEndWouldRefuse) {
  Ends ends;
  EXPECT_FALSE(ends.one->send({.rank = 1, .body = std::string(kMostMessageBytes + 1, 'x')}, soon()));
}

TEST(FrameSocket, GivesUpAnEndThatTakesNothing) {
  Ends ends;
  EXPECT_FALSE(ends.one->send({.rank = 1, .body = std::string(std::size_t{4} << 20, 'x')},
                              Clock::now() + milliseconds(50)));
}

}  // namespace
}  // namespace joust::hosts
