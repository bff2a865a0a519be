// SPDX-License-Identifier: MIT
//
// What rank 0 takes for the reply of another rank, and what it does not.
#include "hosts/relay_channel.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <thread>

#include "hosts/agent.hpp"

namespace joust::hosts {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

const std::string kKeyOfRun = Token::make().text();
constexpr int kOther = 1;

// Rank 0, with this test in the place of its relay.
class Channel : public testing::Test {
 protected:
  Channel() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()), 0);
    relay_ = std::make_unique<FrameSocket>(Fd(ends[0]));
    Rank rank{};
    rank.rank = 0, rank.size = 2, rank.relay = ends[1], rank.key = kKeyOfRun;
    channel_ = std::make_shared<RelayChannel>(rank, [] { return false; });
    link_ = std::make_unique<RelayLink>(channel_, kOther, "b");
  }

  // Returns the sealed reply of the other rank's agent to the next request.
  std::string next_reply() {
    const auto request = relay_->receive(Clock::now() + 5s);
    EXPECT_TRUE(request && *request);
    return agent_.reply_to(0, (*request)->body).value();
  }
  void deliver(const std::string& text) {
    EXPECT_TRUE(relay_->send({.rank = kOther, .body = text}, Clock::now() + 5s));
  }
  // Makes a call, whose request and whose repetition in a session are answered.
  std::string answered_call() {
    std::string last;
    std::thread relay([&] {
      for (int i = 0; i < 2; ++i) deliver(last = next_reply());
    });
    const auto reply = link_->call({{"do", "count"}}, 5s);
    relay.join();
    EXPECT_TRUE(reply) << reply.error();
    return last;
  }

  int counted_ = 0;
  const Handlers handlers_{{"count", [this](const Json&) { return Json{{"count", ++counted_}}; }}};
  Agent agent_{kOther, kKeyOfRun, handlers_};
  std::unique_ptr<FrameSocket> relay_;
  std::shared_ptr<RelayChannel> channel_;
  std::unique_ptr<RelayLink> link_;
};

TEST_F(Channel, TakesAReplyOnce) {
  const std::string first = answered_call();
  for (int i = 0; i < 100; ++i) deliver(first);
  ASSERT_TRUE(link_->post({{"do", "count"}}));
  const auto none = link_->await(50ms);
  ASSERT_FALSE(none);
  EXPECT_TRUE(none.error().starts_with("no answer within 50.0 ms; 100 messages in its name")) << none.error();
  deliver(next_reply());
  const auto second = link_->await(5s);
  ASSERT_TRUE(second) << second.error();
  EXPECT_EQ((*second)["count"], 2);
}

// Somebody repeats that the agent is a new process, and is believed a few times at most.
TEST_F(Channel, AsksAProcessThatBeginsAnewAFewTimes) {
  ASSERT_TRUE(link_->post({{"do", "count"}}));
  const std::string anew = next_reply();
  std::thread relay([&] {
    deliver(anew);
    while (relay_->receive(Clock::now() + 1s).value_or(std::nullopt)) deliver(anew);
  });
  const auto none = link_->await(30s);
  relay.join();
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error(), "its process begins anew again and again");
  EXPECT_EQ(counted_, 0);
}

TEST_F(Channel, TakesNoReplyOfAnotherRunWithItsKey) {
  const std::string of_this = answered_call();
  const std::string session = of_this.substr(0, of_this.find(' '));
  ASSERT_TRUE(link_->post({{"do", "count"}}));
  deliver(Seal(kKeyOfRun).sealed(kOther, 0, {.session = session, .number = 2, .body = R"({"count":7})"}));
  EXPECT_FALSE(link_->await(50ms)) << "numbers of a run begin at random";
}

TEST_F(Channel, ShowsTheEndOfARankInOneLine) {
  ASSERT_TRUE(link_->post({{"do", "count"}}));
  const Frame end{.kind = Frame::Kind::ended, .rank = kOther, .body = "x\njoust-relay: exit code 0\n\x1b[2J"};
  EXPECT_TRUE(relay_->send(end, Clock::now() + 5s));
  const auto none = link_->await(5s);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error(), R"(x\x0ajoust-relay: exit code 0\x0a\x1b[2J)");
}

}  // namespace
}  // namespace joust::hosts
