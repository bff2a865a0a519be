// SPDX-License-Identifier: MIT
//
// Engines of messages at a stop: what has arrived is answered, peers are told, and the end comes in time.
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <thread>

#include "conformance/message_peer.hpp"
#include "conformance/running.hpp"
#include "conformance/services.hpp"

namespace joust::conformance {
namespace {

using std::chrono::milliseconds;

class MessageStopping : public EngineTest {};
JOUST_EVERY_MESSAGE_ENGINE(MessageStopping, Role::serve);

class LossyMessageStopping : public EngineTest {
 public:
  static bool applies(const Variant& variant) { return variant.engine->delivery.lossy; }
};
JOUST_EVERY_MESSAGE_ENGINE(LossyMessageStopping, Role::serve);

TEST_P(MessageStopping, WithNobodyThere) {
  checks(Duty::stop);
  EchoService echo;
  Server server(GetParam(), echo);
  for (const Time begun = Clock::now(); server.run().times_ready() == 0; std::this_thread::yield())
    ASSERT_LT(Clock::now() - begun, kPatience) << "it does not say that it serves";
  server.stop();
  EXPECT_EQ(server.run().times_ready(), 1U);
}

TEST_P(MessageStopping, AnswersWhatHasArrivedAndSaysGoodbye) {
  checks(Duty::stop);
  for (int i = 0; i < 10; ++i) {
    Limits limits = brisk();
    limits.linger = limits.drain = kPatience;
    EchoService echo;
    Server server(GetParam(), echo, {.limits = limits});
    MessagePeer peer(server.endpoint());
    peer.join();
    peer.send("12345678 the first");
    EXPECT_EQ(peer.receive(), "12345678 the first");
    peer.send("12345678 the second");
    server.run().stop().request();
    EXPECT_EQ(peer.receive(), "12345678 the second");
    EXPECT_EQ(peer.await(DatagramKind::leave).head.number, 2U);
    peer.send({.kind = DatagramKind::left, .token = peer.token(), .number = 2});
    server.run().wait();
    EXPECT_EQ(server.tally().datagrams().lost, 0U);
  }
}

TEST_P(LossyMessageStopping, AGoodbyeIsRepeatedUntilItIsAnswered) {
  checks(Duty::stop);
  Limits limits = brisk();
  limits.linger = limits.drain = kPatience;
  EchoService echo;
  Server server(GetParam(), echo, {.limits = limits});
  MessagePeer peer(server.endpoint());
  peer.join();
  server.run().stop().request();
  for (int i = 0; i < 3; ++i) peer.await(DatagramKind::leave);
  peer.send({.kind = DatagramKind::left, .token = peer.token()});
  server.run().wait();
}

TEST_P(MessageStopping, LetsNobodyIn) {
  checks(Duty::stop);
  Limits limits = brisk();
  limits.linger = limits.drain = kPatience;
  EchoService echo;
  Server server(GetParam(), echo, {.limits = limits});
  MessagePeer peer(server.endpoint()), late(server.endpoint());
  peer.join();
  server.run().stop().request();
  peer.await(DatagramKind::leave);
  try {
    EXPECT_FALSE(late.tries_to_join(milliseconds(60)));
  } catch (const std::exception&) {
    // A thread of ZeroMQ without peers has ended, and has closed the connection.
  }
  peer.send({.kind = DatagramKind::left, .token = peer.token()});
  server.run().wait();
  EXPECT_EQ(server.tally().opened, 1U);
}

TEST_P(MessageStopping, DoesNotWaitLongerThanTheDrainLimit) {
  checks(Duty::stop);
  Limits limits = brisk();
  limits.drain = milliseconds(50);
  limits.linger = kPatience * 2;
  EchoService echo;
  Server server(GetParam(), echo, {.limits = limits});
  MessagePeer silent(server.endpoint());
  silent.join();
  server.stop();
}

TEST_P(MessageStopping, TheSecondStopEndsAtOnce) {
  checks(Duty::stop);
  Limits limits = brisk();
  limits.drain = limits.linger = kPatience * 2;
  EchoService echo;
  Server server(GetParam(), echo, {.limits = limits});
  MessagePeer silent(server.endpoint());
  silent.join();
  server.run().stop().request();
  silent.await(DatagramKind::leave);
  EXPECT_FALSE(server.run().over_within(milliseconds(10)));
  server.stop();
}

// Threads that have nothing left to do end one after another. The kernel must not give their sockets' share
// of addresses to other threads, which do not know these peers.
TEST_P(MessageStopping, APeerIsKnownUntilItHasLeft) {
  checks(Duty::stop);
  Variant several = GetParam();
  if (several.engine->several_loops) several.options.threads = 3;
  Limits limits = brisk();
  limits.linger = limits.drain = kPatience;
  EchoService echo;
  Server server(several, echo, {.limits = limits});
  std::deque<MessagePeer> peers;
  for (int i = 0; i < 12; ++i) peers.emplace_back(server.endpoint()).join();
  server.run().stop().request();
  for (MessagePeer& peer : peers) peer.await(DatagramKind::leave);
  for (MessagePeer& peer : peers) {
    peer.send({.kind = DatagramKind::leave, .token = peer.token()});
    EXPECT_FALSE(peer.await(DatagramKind::left).head.unknown);
    std::this_thread::sleep_for(milliseconds(5));  // its thread may end
  }
  server.run().wait();
  EXPECT_EQ(server.tally().datagrams().foreign, 0U);
}

TEST_P(MessageStopping, InMidTrafficAgainAndAgain) {
  checks(Duty::stop);
  Limits limits = brisk();  // the flooding peers do not say that they have left
  limits.drain = limits.linger = milliseconds(10);
  for (int i = 0; i < 20; ++i) {
    EchoService echo;
    Server server(GetParam(), echo, {.limits = limits});
    std::atomic<bool> over{false};
    std::vector<std::jthread> traffic;
    for (int peer = 0; peer < 3; ++peer)
      traffic.emplace_back([&over, to = server.endpoint()] {
        try {
          MessagePeer flooding(to);
          // Nobody says that a group is served no more.
          bool joined = false;
          for (int n = 0; n < 20 && !joined && !over; ++n) joined = flooding.tries_to_join(milliseconds(10));
          while (joined && !over) {
            for (int n = 0; n < 10; ++n) flooding.send("12345678 in mid traffic");
            for (int n = 0; n < 10 && !over; ++n)
              if (const auto heard = flooding.next(milliseconds(50)); !heard || heard->head.unknown) return;
          }
        } catch (const std::exception&) {
          // The server's socket has been closed.
        }
      });
    std::this_thread::sleep_for(std::chrono::microseconds(300 * i));
    server.stop();
    over = true;
  }
}

}  // namespace
}  // namespace joust::conformance
