// SPDX-License-Identifier: MIT
//
// Connections over datagrams that all arrive: joining, messages, leaving, limits.
#include "message/one_server.hpp"

namespace joust {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class MessageConnectionTest : public OneServerTest {};

TEST_F(MessageConnectionTest, OpensOneSessionOnEachSide) {
  join();
  EXPECT_EQ(server().told, std::vector<std::string>{"open"});
  EXPECT_EQ(client().told, std::vector<std::string>{"open"});
  EXPECT_EQ(net().server_tally().opened, 1U);
  EXPECT_EQ(net().client_tally().opened, 1U);
  EXPECT_EQ(server_.delivery.kind, Delivery::Kind::message);
}

TEST_F(MessageConnectionTest, CarriesWholeMessagesInOrder) {
  join();
  client().to_send = numbered(200);
  server().to_send = numbered(100, 30'000);
  net().pass({});
  EXPECT_EQ(server().received, list(numbered(200)));
  EXPECT_EQ(client().received, list(numbered(100, 30'000)));
  EXPECT_EQ(client().released, std::size_t{200} * 20);
}

TEST_F(MessageConnectionTest, PacksShortMessagesAndLeavesLongOnesAlone) {
  join({.packs = true});
  auto messages = numbered(300, 45);
  messages.insert(messages.begin() + 100, std::string(10'000, 'y'));
  client().to_send = messages;
  const std::uint64_t before = net().to_server(0).counts().sent;
  net().pass({});
  EXPECT_EQ(server().received, list(messages));
  EXPECT_LT(net().to_server(0).counts().sent - before, 20U);
}

TEST_F(MessageConnectionTest, AMessageThatNoDatagramHoldsEndsTheConnection) {
  join();
  client().to_send = {std::string(kLargestDatagram - DatagramHead::kBytes, 'x')};
  net().pass({});
  EXPECT_EQ(server().received.at(0).size(), kLargestDatagram - DatagramHead::kBytes);
  client().to_send = {std::string(kLargestDatagram - DatagramHead::kBytes + 1, 'x')};
  net().pass({});
  EXPECT_EQ(net().client_tally().failures(Stage::send), 1U);
  EXPECT_EQ(net().client(0), nullptr);
}

TEST_F(MessageConnectionTest, BothSidesLeaveOnceTheirSessionsHaveFinished) {
  join();
  server().echoes = true;
  client().to_send = numbered(10);
  client().finishes_when_sent = true;
  net().pass(milliseconds(10));
  EXPECT_EQ(client().received, list(numbered(10)));
  EXPECT_EQ(net().client(0), nullptr) << "it has had its answer";
  EXPECT_EQ(server().told, (std::vector<std::string>{"open", "peer finished", "destroyed"}));
  EXPECT_NE(net().server_of(0), nullptr) << "its answer may have been lost";
  net().pass(seconds(1));
  EXPECT_TRUE(net().all_over());
  EXPECT_EQ(net().server_tally().failures() + net().client_tally().failures(), 0U);
  EXPECT_EQ(net().server_tally().datagrams().expected, 10U);
  EXPECT_EQ(net().client_tally().datagrams().lost, 0U);
}

// It would have counted as received, though no session has got it.
TEST_F(MessageConnectionTest, AMessageThatComesAfterTheEndOfItsSessionIsLost) {
  join();
  net().to_server(0).change({.delay = milliseconds(50)});
  client().to_send = numbered(1);
  net().pass({});
  net().to_server(0).change({});
  client().finished = true;
  net().publish();
  net().pass(milliseconds(40));
  ASSERT_EQ(server().told.back(), "destroyed") << "what was overtaken is not awaited for longer";
  net().pass(seconds(2));
  ASSERT_TRUE(net().all_over());
  EXPECT_TRUE(server().received.empty());
  EXPECT_EQ(net().server_tally().datagrams().expected, 1U);
  EXPECT_EQ(net().server_tally().datagrams().received, 0U);
  EXPECT_EQ(net().server_tally().datagrams().lost, 1U);
}

TEST_F(MessageConnectionTest, TheOtherSideMaySendOnAfterItsPeerHasFinished) {
  join();
  server().finishes_with_its_peer = false;
  client().finished = true;
  net().publish();
  net().pass(milliseconds(50));
  EXPECT_EQ(server().told.back(), "peer finished");
  server().to_send = numbered(5);
  server().finishes_when_sent = true;
  net().publish();
  net().pass(milliseconds(50));
  EXPECT_EQ(client().received, list(numbered(5)));
  EXPECT_EQ(net().client(0), nullptr);
}

TEST_F(MessageConnectionTest, AnAnswerThatNeverComesIsAwaitedForTheLingerLimit) {
  join();
  server().finishes_with_its_peer = false;
  client().finished = true;
  net().publish();
  net().pass(milliseconds(999));
  EXPECT_NE(net().client(0), nullptr);
  net().pass(milliseconds(2));
  EXPECT_EQ(net().client(0), nullptr);
  EXPECT_EQ(net().client_tally().failures(), 0U);
}

TEST_F(MessageConnectionTest, AStopOfTheServerEndsBoth) {
  join();
  server().to_send = numbered(20);
  net().drain_server();
  net().pass(milliseconds(100));
  EXPECT_EQ(client().received, list(numbered(20)));
  EXPECT_EQ(client().told.at(1), "peer finished");
  EXPECT_EQ(net().peers(), 0U);
  EXPECT_EQ(net().server_tally().failures(), 0U);
}

TEST_F(MessageConnectionTest, HoldsWhatTheSessionDoesNotWantWithinALimit) {
  MessageNet::Rules rules;
  rules.limits.read_bytes_per_turn = 1'000;
  join(rules);
  server().want = Want::nothing;
  client().to_send = numbered(100, 100);
  net().pass(milliseconds(1));
  EXPECT_TRUE(server().received.empty());
  server().want = Want::bytes;
  net().publish();
  const auto all = numbered(100, 100);
  // A held message counts with what it takes besides its bytes.
  EXPECT_EQ(server().received, std::vector<std::string>(all.begin(), all.begin() + 6));
  client().finished = true;
  net().publish();
  net().pass(seconds(2));
  EXPECT_EQ(net().server_tally().datagrams().lost, 94U);
  EXPECT_FALSE(net().server_tally().notes().empty());
}

TEST_F(MessageConnectionTest, WhereNothingMayBeLostTooMuchEndsTheConnection) {
  MessageNet::Rules rules;
  rules.limits.read_bytes_per_turn = 1'000;
  rules.lossy = false;
  join(rules);
  server().want = Want::nothing;
  client().to_send = numbered(100, 100);
  net().pass(milliseconds(1));
  EXPECT_EQ(net().server_of(0), nullptr);
  EXPECT_EQ(net().server_tally().failures(Stage::receive), 1U);
  EXPECT_EQ(server().told.at(1), "failure: receive");
}

TEST_F(MessageConnectionTest, WhereNothingMayBeLostAGapEndsTheConnection) {
  MessageNet::Rules rules;
  rules.lossy = false;
  join(rules);
  client().to_send = numbered(1);
  net().pass({});
  net().to_server(0).change({.lost = 1000});
  client().to_send = numbered(1);
  net().pass({});
  net().to_server(0).change({});
  client().to_send = numbered(1);
  net().pass({});
  EXPECT_EQ(net().server_of(0), nullptr);
  EXPECT_EQ(server().received.size(), 1U);
  EXPECT_EQ(server().told.at(1), "failure: receive");
}

TEST_F(MessageConnectionTest, WhereNothingIsLostAGoodbyeIsSaidOnce) {
  MessageNet::Rules rules;
  rules.lossy = false;
  join(rules);
  client().finished = true;
  server().finishes_with_its_peer = false;
  const std::uint64_t before = net().to_server(0).counts().sent;
  net().publish();
  net().pass(milliseconds(900));
  EXPECT_EQ(net().to_server(0).counts().sent - before, 1U);
  server().finished = true;
  net().publish();
  net().pass(milliseconds(1));
  EXPECT_EQ(net().server_of(0), nullptr) << "its place is free again";
  EXPECT_EQ(net().client(0), nullptr);
  EXPECT_EQ(net().client_tally().sent.load(), net().server_tally().received.load());
}

TEST_F(MessageConnectionTest, KeepsAnIdleConnectionAliveWhileItsClientLives) {
  join();
  const std::uint64_t before = net().to_server(0).counts().sent;
  net().pass(seconds(600));
  EXPECT_NE(net().server_of(0), nullptr);
  EXPECT_LT(net().to_server(0).counts().sent - before, 60U);
  net().to_server(0).change({.lost = 1000});
  net().pass(seconds(61));
  EXPECT_EQ(net().server_of(0), nullptr) << "evicted";
  EXPECT_EQ(net().server_tally().failures(Stage::timeout), 1U);
  EXPECT_EQ(server().told.at(1), "failure: timeout");
}

TEST_F(MessageConnectionTest, AServerCannotAskForAFloodOfKeepAlives) {
  Tally tally;
  const Limits limits;
  MessageScript script;
  Time now{seconds(1)};
  MessageConnection connection(std::make_unique<ScriptedMessages>(script),
                               {.side = MessageLink::Side::client, .token = 1}, limits, tally, now);
  std::array<DatagramOut, 3> out;
  connection.received({.head = {.kind = DatagramKind::joined, .token = 1, .number = 0}, .payload = {}}, now);
  std::size_t sent = 0;
  for (const Time until = now + seconds(1); now < until; now += milliseconds(1)) {
    connection.on_time(now);
    const std::size_t count = connection.output(out, now);
    connection.sent(count, now);
    sent += count;
  }
  EXPECT_GT(sent, 0U);
  EXPECT_LE(sent, 40U);
}

TEST_F(MessageConnectionTest, AClientHearsThatTheServerHasForgottenIt) {
  join();
  server().gives_up = true;
  net().publish();
  net().pass({});
  EXPECT_EQ(net().server_of(0), nullptr);
  EXPECT_NE(net().client(0), nullptr);
  client().to_send = numbered(1);
  net().pass(milliseconds(1));
  EXPECT_EQ(net().client(0), nullptr);
  EXPECT_EQ(net().client_tally().failures(Stage::receive), 1U);
  EXPECT_EQ(server_.scripts.size(), 1U) << "a keep-alive or data makes no session";
}

TEST_F(MessageConnectionTest, ADeadlineOfTheSessionIsKept) {
  join();
  server().deadline = net().now() + milliseconds(30);
  net().publish();
  net().pass(milliseconds(29));
  EXPECT_EQ(server().told.size(), 1U);
  net().pass(milliseconds(2));
  EXPECT_EQ(server().told.back(), "deadline");
}

TEST_F(MessageConnectionTest, AProtocolErrorOfThePeerIsCountedOnce) {
  join();
  server().complaint = "nonsense";
  server().finished = true;
  net().publish();
  net().pass(seconds(3));
  EXPECT_TRUE(net().all_over());
  EXPECT_EQ(net().server_tally().failures(Stage::verify), 1U);
  EXPECT_EQ(net().server_tally().failures(), 1U);
}

TEST_F(MessageConnectionTest, WhatTheSystemRefusesIsMissedByThePeer) {
  Tally tally;
  const Limits limits;
  MessageScript script;
  script.to_send = numbered(3);
  {
    MessageConnection connection(std::make_unique<ScriptedMessages>(script),
                                 {.side = MessageLink::Side::client, .token = 1}, limits, tally, Time{});
    std::array<DatagramOut, 3> out;
    ASSERT_EQ(connection.output(out, Time{}), 3U);
    connection.not_sent(1, Time{});
    ASSERT_EQ(connection.output(out, Time{}), 2U);
    EXPECT_EQ(parse_datagram(out[0].front())->head.number, 1U);
    connection.sent(2, Time{});
    EXPECT_FALSE(connection.has_output());
  }
  EXPECT_EQ(tally.datagrams().not_sent, 1U);
}

MessageLink plain_link() {
  return {.side = MessageLink::Side::client,
          .delivery = {.kind = Delivery::Kind::message,
                       .largest_message = kLargestDatagram - DatagramHead::kBytes,
                       .lossy = true},
          .plain = true};
}

// A client of a server that is not joust's: nothing but messages travels.
TEST(PlainDatagrams, AreTheMessagesAlone) {
  const Time begin(std::chrono::hours(1));
  MessageScript script;
  script.to_send = {"one", std::string(30'000, 'y'), "three"};
  script.finishes_when_sent = true;
  Tally tally;
  const Limits limits;
  {
    MessageConnection connection(std::make_unique<ScriptedMessages>(script), plain_link(), limits, tally,
                                 begin);
    connection.received({.head = {}, .payload = as_bytes("hello")}, begin);
    std::vector<std::string> came;
    std::array<DatagramOut, 2> out;
    while (const std::size_t count = connection.output(out, begin)) {
      for (const DatagramOut& each : std::span(out).first(count))
        came.push_back(std::string(as_text(each.front())) + std::string(as_text(each.tail)));
      connection.sent(count, begin);
    }
    EXPECT_EQ(came, (std::vector<std::string>{"one", std::string(30'000, 'y'), "three"}));
    EXPECT_EQ(script.received, std::vector<std::string>{"hello"});
    EXPECT_TRUE(connection.ended()) << "no goodbye is said, and none is waited for";
  }
  EXPECT_EQ(tally.failures(), 0U);
  EXPECT_EQ(tally.received, 5U);
  EXPECT_EQ(tally.sent, 30'008U);
}

TEST(PlainDatagrams, AreWaitedForUntilTheIdleLimit) {
  const Time begin(std::chrono::hours(1));
  MessageScript script;
  Tally tally;
  const Limits limits{.idle = seconds(3)};
  MessageConnection connection(std::make_unique<ScriptedMessages>(script), plain_link(), limits, tally,
                               begin);
  connection.on_time(begin + seconds(2));
  std::array<DatagramOut, 1> out;
  EXPECT_EQ(connection.output(out, begin + seconds(2)), 0U) << "no keep-alive";
  EXPECT_FALSE(connection.ended());
  connection.on_time(begin + seconds(3));
  EXPECT_TRUE(connection.ended());
}

}  // namespace
}  // namespace joust
