// SPDX-License-Identifier: MIT
//
// Servers of messages, and system calls that fail.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <string>
#include <thread>

#include "conformance/message_peer.hpp"
#include "conformance/running.hpp"
#include "conformance/services.hpp"
#include "failing_calls.hpp"

namespace joust::conformance {
namespace {

using std::chrono::milliseconds;
using test::Call;
using test::Failing;

// The calls that fail are the engine's own, not those of a library.
class MessageFaults : public EngineTest {
 public:
  static bool applies(const Variant& variant) { return variant.engine->transport == Transport::datagram; }
};
JOUST_EVERY_MESSAGE_ENGINE(MessageFaults, Role::serve);

struct FailingBoth {
  FailingBoth(Call plain, Call batched, int error, std::uint64_t times)
      : one(plain, error, times), many(batched, error, times) {}
  std::uint64_t failed() const { return one.failed() + many.failed(); }
  Failing one, many;
};

// The reply to a message that is sent again until one comes. A datagram may have several: the last of them.
std::string echoed(const Endpoint& server) {
  constexpr std::string_view kText = "12345678 again";
  MessagePeer peer(server);
  peer.join();
  for (const Time until = Clock::now() + kPatience; Clock::now() < until;) {
    peer.send(kText);
    if (const auto heard = peer.next(milliseconds(50)); heard && heard->head.kind == DatagramKind::data)
      return heard->payload.substr(heard->payload.size() - std::min(heard->payload.size(), kText.size()));
  }
  return "nothing";
}

TEST_P(MessageFaults, AFullSocketIsWaitedFor) {
  EchoService echo;
  Server server(GetParam(), echo);
  // The peer's own calls use send(), which is not among those that fail here.
  for (const int error : {EAGAIN, EINTR}) {
    const FailingBoth failing(Call::sendto, Call::sendmmsg, error, 3);
    MessagePeer peer(server.endpoint());
    EXPECT_EQ(echoed(server.endpoint()), "12345678 again");
    EXPECT_GT(failing.failed(), 0U);
  }
}

TEST_P(MessageFaults, ARefusedDatagramIsCountedAndTheLoopGoesOn) {
  EchoService echo;
  Server server(GetParam(), echo);
  for (const int error : {ENOBUFS, ENOMEM, EMSGSIZE, EPERM, ENETUNREACH, EINVAL}) {
    const FailingBoth failing(Call::sendto, Call::sendmmsg, error, 4);
    EXPECT_EQ(echoed(server.endpoint()), "12345678 again") << error;
    EXPECT_GT(failing.failed(), 0U);
  }
  server.stop();
  EXPECT_GT(server.tally().datagrams().not_sent, 0U);
  EXPECT_GT(server.tally().datagrams().unreachable, 0U);
}

TEST_P(MessageFaults, AReceiveThatFailsEndsNothing) {
  EchoService echo;
  Server server(GetParam(), echo);
  for (const int error : {ECONNREFUSED, EHOSTUNREACH, ENOMEM, ENOBUFS, EINTR, EIO}) {
    const FailingBoth failing(Call::recvfrom, Call::recvmmsg, error, 3);
    EXPECT_EQ(echoed(server.endpoint()), "12345678 again") << error;
    EXPECT_GT(failing.failed(), 0U);
  }
}

// The engine reads nothing meanwhile, so that it finds everything at once.
template <typename Step>
void while_nothing_is_read(Step&& step) {
  const FailingBoth failing(Call::recvfrom, Call::recvmmsg, EAGAIN, Failing::kAlways);
  step();
}

// Nobody has to ask twice, however many ask at the same time.
TEST_P(MessageFaults, JoinsThatComeTogetherAreAllAnswered) {
  constexpr std::size_t kSockets = 4, kJoins = 150;
  EchoService echo;
  Server server(GetParam(), echo);
  std::deque<MessagePeer> strangers;
  while (strangers.size() < kSockets) strangers.emplace_back(server.endpoint());
  while_nothing_is_read([&] {
    for (std::size_t i = 1; i <= kJoins; ++i)
      for (MessagePeer& stranger : strangers) stranger.send({.kind = DatagramKind::join, .token = i});
  });
  std::size_t answers = 0;
  for (MessagePeer& stranger : strangers)
    for (std::size_t i = 0; i < kJoins && stranger.next(milliseconds(500)); ++i) ++answers;
  server.stop();
  EXPECT_EQ(answers + server.tally().datagrams().kernel_drops, kSockets * kJoins);
}

TEST_P(MessageFaults, WhatTheKernelDropsIsCountedAndAJoinedCountExplained) {
  EchoService echo;
  Server server(GetParam(), echo, {.socket = {.receive_buffer = 4096}});
  MessagePeer peer(server.endpoint());
  peer.join();
  bool is_batched = false;
  {
    const FailingBoth failing(Call::recvfrom, Call::recvmmsg, EAGAIN, Failing::kAlways);
    for (int i = 0; i < 200; ++i) peer.send(std::string(1'000, 'x'));
    while (failing.failed() == 0) std::this_thread::yield();
    is_batched = failing.many.failed() > 0;
  }
  server.stop();
  EXPECT_GT(server.tally().datagrams().kernel_drops, 0U);
  const auto notes = server.tally().notes();
  const bool explained = std::ranges::any_of(
      notes, [](const std::string& note) { return note.starts_with("kernel_drops counts"); });
  EXPECT_EQ(explained, is_batched);
}

// Echoes of one size to one peer, which go to the kernel as one datagram that it is to cut.
void expect_echoes(Server& server, MessagePeer& peer) {
  constexpr int kMessages = 20;
  while_nothing_is_read([&] {
    for (int i = 0; i < kMessages; ++i) peer.send("12345678 of one size");
  });
  for (int i = 0; i < kMessages; ++i) EXPECT_EQ(peer.receive(), "12345678 of one size");
  EXPECT_EQ(server.tally().datagrams().not_sent, 0U);
}

TEST_P(MessageFaults, AWayThatRefusesSegmentsIsNoReasonForTheOthers) {
  EchoService echo;
  Server server(GetParam(), echo);
  MessagePeer peer(server.endpoint());
  peer.join();
  for (const int error : {EINVAL, EMSGSIZE}) {
    for (int turn = 0; turn < 2; ++turn) {
      const Failing failing(Call::segments, error);
      expect_echoes(server, peer);
      if (failing.failed() == 0 && turn == 0 && error == EINVAL) GTEST_SKIP() << "it sends them one by one";
      EXPECT_GT(failing.failed(), 0U) << "it does not try again";
    }
  }
}

TEST_P(MessageFaults, AKernelThatCannotCutSegmentsIsAskedOnce) {
  EchoService echo;
  Server server(GetParam(), echo);
  MessagePeer peer(server.endpoint());
  peer.join();
  const Failing failing(Call::segments, EIO);
  for (int turn = 0; turn < 3; ++turn) expect_echoes(server, peer);
  if (failing.failed() == 0) GTEST_SKIP() << "it sends them one by one";
  EXPECT_EQ(failing.failed(), 1U);
}

}  // namespace
}  // namespace joust::conformance
