// SPDX-License-Identifier: MIT
//
// Engines of messages as servers: whoever joins is served, whatever else comes.
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <thread>

#include "conformance/idleness.hpp"
#include "conformance/message_peer.hpp"
#include "conformance/running.hpp"
#include "conformance/services.hpp"

namespace joust::conformance {
namespace {

using std::chrono::milliseconds;

class MessageServing : public EngineTest {};
JOUST_EVERY_MESSAGE_ENGINE_EACH_CHOICE(MessageServing, Role::serve);

// Over a lossy delivery a message begins with its number, which the echo service returns as it came.
std::string numbered(std::string_view text) {
  return "12345678" + std::string(text);
}

void expect_echo(MessagePeer& peer, std::string_view text) {
  peer.send(numbered(text));
  EXPECT_EQ(peer.receive(), numbered(text));
}

TEST_P(MessageServing, ServesIpv4) {
  EchoService echo;
  Server server(GetParam(), echo);
  MessagePeer first(server.endpoint()), second(server.endpoint());
  first.join();
  second.join();
  expect_echo(first, "to the first");
  expect_echo(second, "to the second");
  expect_echo(first, "again to the first");
}

TEST_P(MessageServing, ServesIpv6) {
  if (sends_to_group(GetParam())) GTEST_SKIP() << "its groups are of IPv4";
  try {
    EchoService echo;
    Server server(GetParam(), echo, {.address = "[::1]:0"});
    MessagePeer peer(server.endpoint());
    peer.join();
    expect_echo(peer, "hello");
  } catch (const std::system_error& error) {
    if (error.code().value() != EADDRNOTAVAIL && error.code().value() != EAFNOSUPPORT) throw;
    GTEST_SKIP() << "this machine has no IPv6: " << error.what();
  }
}

TEST_P(MessageServing, ServesEveryAddressOfItsName) {
  checks(Duty::every_address);
  if (sends_to_group(GetParam())) GTEST_SKIP() << "its address is one group";
  EchoService echo;
  const std::array endpoints{endpoint_of("127.0.0.1:0"), endpoint_of("127.0.0.2:0")};
  Server server(GetParam(), echo, {}, endpoints);
  for (const Listener* listener : server.listeners().all()) {
    MessagePeer peer(listener->endpoint());
    peer.join();
    expect_echo(peer, listener->address());
  }
}

TEST_P(MessageServing, MessagesOfAllSizesComeBackWhole) {
  EchoService echo;
  Server server(GetParam(), echo);
  MessagePeer peer(server.endpoint());
  peer.join();
  for (const std::size_t size : {1U, 100U, 1366U, 1367U, 1400U, 9'000U, 60'000U, 65'473U})
    expect_echo(peer, pattern(size));
}

TEST_P(MessageServing, TwoHundredAtOnce) {
  EchoService echo;
  Server server(GetParam(), echo);
  std::deque<MessagePeer> peers;
  for (int i = 0; i < 200; ++i) peers.emplace_back(server.endpoint()).join();
  for (MessagePeer& peer : peers) peer.send(numbered("from one of many"));
  for (MessagePeer& peer : peers) EXPECT_EQ(peer.receive(), numbered("from one of many"));
  EXPECT_EQ(server.tally().opened, 200U);
}

// Many datagrams wait at once, of one peer and of several.
TEST_P(MessageServing, AnswersABurstOfEachPeer) {
  EchoService echo;
  Server server(GetParam(), echo);
  std::deque<MessagePeer> peers;
  for (int i = 0; i < 3; ++i) peers.emplace_back(server.endpoint()).join();
  for (int i = 0; i < 100; ++i)
    for (MessagePeer& peer : peers) peer.send(numbered(pattern(20 + static_cast<std::size_t>(i) % 3)));
  for (int i = 0; i < 100; ++i)
    for (MessagePeer& peer : peers)
      EXPECT_EQ(peer.receive(), numbered(pattern(20 + static_cast<std::size_t>(i) % 3))) << i;
}

TEST_P(MessageServing, APeerThatLeavesIsTold) {
  EchoService echo;
  Server server(GetParam(), echo);
  MessagePeer peer(server.endpoint());
  peer.join();
  for (int i = 0; i < 5; ++i) expect_echo(peer, "and another");
  EXPECT_EQ(peer.leave(), 5U);
  if (GetParam().engine->delivery.lossy) {
    EXPECT_EQ(peer.leave(), 5U) << "the first answer may have been lost";
  }
  server.stop();
  EXPECT_EQ(server.tally().failures(), 0U);
  EXPECT_EQ(server.tally().datagrams().received, 5U);
  EXPECT_EQ(server.tally().datagrams().lost, 0U);
}

TEST_P(MessageServing, ARepeatedJoinIsAnsweredAndMakesNoSecondSession) {
  EchoService echo;
  Server server(GetParam(), echo);
  MessagePeer peer(server.endpoint());
  for (int i = 0; i < 5; ++i) peer.join();
  expect_echo(peer, "still the same");
  EXPECT_EQ(server.tally().opened, 1U);
}

TEST_P(MessageServing, DatagramsOfOthersAreCountedAndDropped) {
  EchoService echo;
  Server server(GetParam(), echo);
  MessagePeer peer(server.endpoint()), stranger(server.endpoint());
  peer.join();
  stranger.send_raw({});                                  // empty
  stranger.send_raw(as_bytes("x"));                       // too short
  stranger.send_raw(as_bytes(std::string(65'507, 'x')));  // the largest there is
  peer.send_raw({});
  peer.send_raw(as_bytes("GET / HTTP/1.1\r\n\r\n and so on"));
  peer.send({.kind = DatagramKind::data, .token = peer.token() + 1}, "forged");
  // The right token from another address.
  stranger.send({.kind = DatagramKind::data, .token = peer.token()}, numbered("forged"));
  stranger.send({.kind = DatagramKind::leave, .token = peer.token(), .number = 3});
  expect_echo(peer, "unharmed");
  while (const auto heard = stranger.next(milliseconds(20)))
    EXPECT_EQ(heard->head.kind, DatagramKind::left) << "to a stranger nothing is said but that it is one";
  server.stop();
  EXPECT_EQ(server.tally().datagrams().truncated, 3U);
  EXPECT_EQ(server.tally().datagrams().foreign, 2U);
  EXPECT_EQ(server.tally().opened, 1U);
}

TEST_P(MessageServing, AStrangerGetsNoMoreBytesThanItSends) {
  EchoService echo;
  Server server(GetParam(), echo);
  for (const DatagramHead& head : {DatagramHead{.kind = DatagramKind::join, .token = 1},
                                   DatagramHead{.kind = DatagramKind::join, .token = 1, .number = 5},
                                   DatagramHead{.kind = DatagramKind::join, .keep_alive = true, .token = 1},
                                   DatagramHead{.kind = DatagramKind::leave, .token = 1},
                                   DatagramHead{.kind = DatagramKind::data, .token = 1}}) {
    MessagePeer stranger(server.endpoint());
    DatagramOut out;
    const bool data = head.kind == DatagramKind::data;
    data ? write_datagram(head, as_bytes("x"), out) : write_signal(head, out);
    stranger.send(head, data ? "x" : "");
    const auto heard = stranger.next();
    ASSERT_TRUE(heard) << static_cast<int>(head.kind);
    EXPECT_LE(heard->bytes, out.size());
    EXPECT_FALSE(stranger.next(milliseconds(10)));
  }
  EXPECT_EQ(server.tally().opened, 0U);
}

// So the datagrams of two servers, or of one to itself, do not go round.
TEST_P(MessageServing, NothingThatAServerSaysIsAnswered) {
  EchoService echo;
  Server server(GetParam(), echo);
  MessagePeer stranger(server.endpoint());
  for (const DatagramKind kind : {DatagramKind::challenge, DatagramKind::joined, DatagramKind::left}) {
    stranger.send({.kind = kind, .token = 1, .number = 2});
    stranger.send({.kind = kind, .unknown = true, .token = 1, .number = 2});
  }
  EXPECT_FALSE(stranger.next(milliseconds(50)));
}

TEST_P(MessageServing, FifthWaitsWhereFourAreAllowed) {
  checks(Duty::shortage);
  Limits limits = brisk();
  limits.connections = 4;
  EchoService echo;
  Server server(GetParam(), echo, {.limits = limits});
  std::deque<MessagePeer> four;
  for (int i = 0; i < 4; ++i) four.emplace_back(server.endpoint()).join();
  MessagePeer fifth(server.endpoint());
  EXPECT_FALSE(fifth.tries_to_join(milliseconds(120)));
  for (MessagePeer& peer : four) expect_echo(peer, "still here");
  four.front().leave();
  fifth.join();
  expect_echo(fifth, "and me");
}

TEST_P(MessageServing, ASilentPeerIsEvicted) {
  checks(Duty::idle);
  Limits limits = brisk();
  limits.idle = milliseconds(200);  // ZeroMQ closes the connection of a peer that reads nothing for longer
  EchoService echo;
  Server server(GetParam(), echo, {.limits = limits});
  MessagePeer silent(server.endpoint());
  silent.join();
  for (const Time begun = Clock::now(); server.tally().failures(Stage::timeout) == 0;
       std::this_thread::yield())
    ASSERT_LT(Clock::now() - begun, kPatience);
  EXPECT_TRUE(silent.await(DatagramKind::left).head.unknown) << "it is told at once";
  silent.send(numbered("hello?"));
  EXPECT_TRUE(silent.await(DatagramKind::left).head.unknown);
}

TEST_P(MessageServing, AnAddressThatBeginsAnewReplacesItsConnection) {
  EchoService echo;
  Server server(GetParam(), echo);
  MessagePeer peer(server.endpoint());
  peer.join();
  // The same socket with another token.
  const DatagramHead again{.kind = DatagramKind::join, .token = 4711};
  peer.send(again);
  const auto challenge = peer.await(DatagramKind::challenge);
  EXPECT_EQ(challenge.head.token, 4711U);
  peer.send({.kind = DatagramKind::join, .token = 4711, .number = challenge.head.number});
  EXPECT_EQ(peer.await(DatagramKind::joined).head.token, 4711U);
  peer.send({.kind = DatagramKind::data, .token = 4711}, numbered("new"));
  EXPECT_EQ(peer.receive(), numbered("new"));
  EXPECT_EQ(server.tally().opened, 2U);
  EXPECT_EQ(server.tally().failures(Stage::receive), 1U);
}

class MessageWaiting : public SleepingTest {};
JOUST_EVERY_MESSAGE_ENGINE(MessageWaiting, Role::serve);

TEST_P(MessageWaiting, SleepsWhileNothingHappens) {
  checks(Duty::idle);
  EchoService echo;
  Server server(GetParam(), echo);
  MessagePeer peer(server.endpoint());
  peer.join();
  expect_echo(peer, "before");
  EXPECT_LT(cpu_share_beside_a_spinner(), kIdle);
  expect_echo(peer, "after");
}

TEST_P(MessageWaiting, SleepsWhileAStopWaits) {
  checks(Duty::idle);
  Limits limits = brisk();
  limits.drain = limits.linger = kPatience * 2;
  EchoService echo;
  Server server(GetParam(), echo, {.limits = limits});
  MessagePeer silent(server.endpoint());
  silent.join();
  server.run().stop().request();
  silent.await(DatagramKind::leave);
  EXPECT_LT(cpu_share_beside_a_spinner(), kIdle);
  silent.send({.kind = DatagramKind::left, .token = silent.token()});
  server.run().wait();
}

}  // namespace
}  // namespace joust::conformance
