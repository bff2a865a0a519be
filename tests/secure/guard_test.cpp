// SPDX-License-Identifier: MIT
//
// Two sessions joined in memory: the right token lets both in, everything else keeps both out.
#include "secure/guard.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "secure/talking.hpp"
#include "session/pair.hpp"

namespace joust {
namespace {

constexpr Duration kSecond = std::chrono::seconds(1);

class GuardTest : public testing::Test {
 protected:
  Pair pair(Pair::Cut cut = Pair::whole) { return {client_->open({}), server_->open({}), std::move(cut)}; }
  void expect_both_out() const {
    EXPECT_EQ(server.opened, 0U);
    EXPECT_EQ(client.opened, 0U);
    EXPECT_EQ(client.not_opened, 1U);
    EXPECT_EQ(server.heard + client.heard, "");
  }

  const Token token_ = Token::make();
  Talk server{}, client{};
  TalkingService talking_server_{server}, talking_client_{client};
  std::unique_ptr<Service> server_ = inside_tls(talking_server_, GuardSide::server, token_);
  std::unique_ptr<Service> client_ = inside_tls(talking_client_, GuardSide::client, token_);
};

std::string noise(std::size_t size) {
  std::mt19937 random(7);
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

TEST_F(GuardTest, CarriesBytesBothWaysHoweverTheyAreCut) {
  std::mt19937 random(1);
  const Pair::Cut by_chance = [&](std::size_t n) { return std::min<std::size_t>(n, 1 + random() % 5000); };
  for (const Pair::Cut& cut : {Pair::Cut(Pair::whole), Pair::Cut(Pair::single), by_chance}) {
    server = {.says = noise(300'000)};
    client = {.says = noise(70'001)};
    Pair both = pair(cut);
    both.settle();
    EXPECT_TRUE(both.over());
    EXPECT_TRUE(server.heard == client.says);  // too long to be shown
    EXPECT_TRUE(client.heard == server.says);
    EXPECT_TRUE(server.peer_finished && client.peer_finished);
    EXPECT_EQ(server.failures + client.failures, 0U) << server.failure << client.failure;
    EXPECT_EQ(both.left().complaint(), "");
  }
}

TEST_F(GuardTest, AnotherTokenLetsNobodyIn) {
  client_ = inside_tls(talking_client_, GuardSide::client, Token::make());
  server.says = client.says = "secret";
  Pair both = pair();
  both.settle();
  EXPECT_TRUE(both.over());
  expect_both_out();
  EXPECT_NE(client.failure.find("token"), std::string::npos) << client.failure;
  EXPECT_EQ(client.stage, Stage::verify);
  EXPECT_NE(both.right().complaint(), "");
}

TEST_F(GuardTest, SilenceEndsByTheDeadline) {
  Pair both = pair();
  both.hold(true);
  both.pass(4 * kSecond);
  EXPECT_FALSE(both.right().gives_up());
  both.pass(2 * kSecond);
  EXPECT_TRUE(both.right().gives_up() && both.left().gives_up());
  EXPECT_TRUE(both.right().finished() && both.left().finished());
  expect_both_out();
  EXPECT_EQ(client.stage, Stage::timeout);
}

TEST_F(GuardTest, ALostServerIsNoRefusal) {
  const auto session = client_->open({});
  session->on_open(Time{});
  session->on_peer_finished(Time{});
  EXPECT_EQ(client.not_opened, 1U);
  EXPECT_EQ(client.stage, Stage::receive);
}

// A byte every four seconds: each is progress, and the deadline is absolute all the same.
TEST_F(GuardTest, ATrickleEndsByTheDeadlineToo) {
  const auto session = server_->open({});
  Time now{std::chrono::hours(1)};
  session->on_open(now);
  for (std::size_t second = 0; second < 4; ++second) {
    now += kSecond;
    session->on_bytes(as_bytes("joust").subspan(second, 1), now);
  }
  ASSERT_TRUE(session->deadline().has_value());
  session->on_deadline(*session->deadline());
  EXPECT_TRUE(session->finished());
  EXPECT_EQ(server.opened, 0U);
}

TEST_F(GuardTest, GarbageReachesNoSession) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    const auto session = server_->open({});
    const Time now{std::chrono::hours(1)};
    session->on_open(now);
    std::string garbage = noise(1 + random() % 700);
    std::ranges::shuffle(garbage, random);
    if (round % 2 == 0) garbage.insert(0, "\x16\x03\x01\x02");  // the beginning of a TLS record
    for (Bytes rest = as_bytes(garbage); !rest.empty();)
      rest = rest.subspan(
          session->on_bytes(rest.first(std::min<std::size_t>(rest.size(), 1 + random() % 99)), now));
    session->on_peer_finished(now);
    EXPECT_TRUE(session->finished());
    EXPECT_NE(session->complaint(), "");
  }
  EXPECT_EQ(server.opened, 0U);
}

TEST_F(GuardTest, AStopInTheHandshakeEnds) {
  const auto session = server_->open({});
  session->on_open(Time{});
  session->on_drain(Time{});
  EXPECT_TRUE(session->finished());
}

TEST_F(GuardTest, PublishedOutputArrives) {
  server.stays = client.stays = true;
  Pair both = pair();
  both.settle();
  both.right().on_published(both.now());
  both.settle();
  EXPECT_EQ(client.heard, "published");
}

TEST_F(GuardTest, ASessionThatWantsNothingHoldsItsPeerBack) {
  server = {.stays = true, .listens = false};
  client.says = noise(3 << 20);
  Pair both = pair();
  both.settle();
  EXPECT_EQ(server.heard, "");
  EXPECT_EQ(both.right().want(), Want::nothing);
  server.listens = true;
  both.right().on_published(both.now());
  both.settle();
  EXPECT_TRUE(server.heard == client.says);  // too long to be shown
}

}  // namespace
}  // namespace joust
