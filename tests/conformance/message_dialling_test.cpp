// SPDX-License-Identifier: MIT
//
// Engines of messages as clients.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>

#include "conformance/message_peer.hpp"
#include "conformance/running.hpp"
#include "conformance/services.hpp"
#include "hosting/mismatch.hpp"
#include "joust/outbox.hpp"

namespace joust::conformance {
namespace {

using std::chrono::milliseconds;

// Sessions that send one message and finish with its answer.
class AskOnce : public Service {
 public:
  std::unique_ptr<Session> open(const ConnectionInfo& info) override;
  void not_opened(const Failure& failure, Time /*now*/) override {
    refused_with = failure.error;
    ++not_let_in;
  }

  std::atomic<unsigned> answered{0}, failed{0}, not_let_in{0};
  std::atomic<int> refused_with{0};
};

class AskingOnce : public Session {
 public:
  explicit AskingOnce(AskOnce& service) : service_(service) { question_.append("12345678 question"); }

  std::size_t on_bytes(Bytes chunk, Time /*now*/) override {
    EXPECT_EQ(as_text(chunk), "12345678 question");
    ++service_.answered;
    finished_ = true;
    return chunk.size();
  }
  void on_peer_finished(Time /*now*/) override { finished_ = true; }
  void on_drain(Time /*now*/) override { finished_ = true; }
  void on_failure(const Failure& /*failure*/, Time /*now*/) override { ++service_.failed; }
  std::size_t output(std::span<Segment> into) const override { return question_.segments(into); }
  bool finished() const override { return finished_; }
  void consumed(std::size_t n) override { question_.consumed(n); }
  void released(std::size_t n) override { question_.released(n); }

 private:
  AskOnce& service_;
  Outbox question_;
  bool finished_ = false;
};

std::unique_ptr<Session> AskOnce::open(const ConnectionInfo& info) {
  EXPECT_TRUE(info.delivery.by_message());
  EXPECT_GT(info.delivery.largest_message, 60'000U);
  return std::make_unique<AskingOnce>(*this);
}

class MessageDialling : public EngineTest {};
JOUST_EVERY_MESSAGE_ENGINE_EACH_CHOICE(MessageDialling, Role::dial);

TEST_P(MessageDialling, JoinsAsksAndLeaves) {
  AskOnce asking;
  MessagePeer server(*GetParam().engine);
  Dialling dialling(GetParam(), asking, {server.own()}, 1);
  const auto client = server.admit();
  const auto asked = server.await(DatagramKind::data);
  EXPECT_EQ(asked.head.number, 0U);
  server.send({.kind = DatagramKind::data, .token = server.token()}, asked.payload, &client.from);
  EXPECT_EQ(server.await(DatagramKind::leave).head.number, 1U);
  server.send({.kind = DatagramKind::left, .token = server.token(), .number = 1}, {}, &client.from);
  dialling.run().wait();
  EXPECT_EQ(asking.answered, 1U);
  EXPECT_EQ(dialling.tally().failures(), 0U);
  EXPECT_EQ(dialling.tally().datagrams().expected, 1U);
}

TEST_P(MessageDialling, AJoinIsRepeatedUntilItIsAnswered) {
  checks(Duty::dialling);
  AskOnce asking;
  MessagePeer server(*GetParam().engine);
  Dialling dialling(GetParam(), asking, {server.own()}, 1);
  for (int i = 0; i < 3; ++i) server.await(DatagramKind::join);
  const auto client = server.admit();
  server.await(DatagramKind::data);
  dialling.run().stop().request();
  server.await(DatagramKind::leave);
  server.send({.kind = DatagramKind::left, .token = server.token()}, {}, &client.from);
  dialling.run().wait();
  EXPECT_EQ(dialling.tally().opened, 1U);
}

// The pauses are drawn, so several connections.
TEST_P(MessageDialling, AJoinWithItsCookieIsRepeatedToo) {
  checks(Duty::dialling);
  constexpr std::size_t kClients = 8;
  constexpr std::uint64_t kCookie = 77;
  AskOnce asking;
  MessagePeer server(*GetParam().engine);
  Dialling dialling(GetParam(), asking, {server.own()}, kClients);
  std::map<std::uint64_t, unsigned> heard;  // joins with the cookie, by token
  const auto is_enough = [](const auto& of_one) { return of_one.second >= 3; };
  while (heard.size() < kClients || !std::ranges::all_of(heard, is_enough)) {
    const auto join = server.next();
    ASSERT_TRUE(join) << "not repeated";
    if (join->head.kind != DatagramKind::join) continue;
    if (join->head.number == kCookie)
      ++heard[join->head.token];
    else
      server.send({.kind = DatagramKind::challenge, .token = join->head.token, .number = kCookie}, {},
                  &join->from);
  }
  dialling.run().stop().request();
  dialling.run().wait();
}

// The kernel refuses it at once: the socket may not send to all.
TEST_P(MessageDialling, ARefusedConnectIsAFailedDial) {
  checks(Duty::dialling);
  if (sends_to_group(GetParam())) GTEST_SKIP() << "it connects to whoever answers for the group";
  AskOnce asking;
  Dialling dialling(GetParam(), asking, {resolve("255.255.255.255:9")->front()}, 2);
  dialling.run().wait();
  EXPECT_EQ(asking.not_let_in, 2U);
  EXPECT_NE(asking.refused_with, ETIMEDOUT);
}

TEST_P(MessageDialling, GivesUpAtTheConnectLimit) {
  checks(Duty::dialling);
  AskOnce asking;
  MessagePeer silent(*GetParam().engine);
  Limits limits = brisk();
  limits.connect = milliseconds(150);
  Dialling dialling(GetParam(), asking, {silent.own()}, 3, limits);
  dialling.run().wait();
  EXPECT_EQ(asking.not_let_in, 3U);
  EXPECT_EQ(asking.refused_with, ETIMEDOUT);
  EXPECT_EQ(dialling.tally().failures(Stage::connect), 3U);
}

TEST_P(MessageDialling, HearsThatNobodyListens) {
  checks(Duty::dialling);
  if (sends_to_group(GetParam())) GTEST_SKIP() << "a group without members refuses nothing";
  AskOnce asking;
  MessagePeer gone(*GetParam().engine);
  const Endpoint nobody = gone.own();
  gone.close();
  Dialling dialling(GetParam(), asking, {nobody}, 2);
  dialling.run().wait();
  EXPECT_EQ(asking.not_let_in, 2U);
  EXPECT_EQ(asking.refused_with, ECONNREFUSED);
  if (GetParam().engine->transport == Transport::datagram) {
    EXPECT_GE(dialling.tally().datagrams().unreachable, 2U);
  }
}

TEST_P(MessageDialling, TriesTheNextAddress) {
  checks(Duty::dialling);
  AskOnce asking;
  MessagePeer gone(*GetParam().engine);
  const Endpoint nobody = gone.own();
  gone.close();
  EchoService echo;
  Limits limits = brisk();
  limits.connect = milliseconds(500);  // a group refuses nothing
  for (const Variant& server_engine : message_variants(Role::serve, Settings::defaults)) {
    if (!mismatch(*server_engine.engine, *GetParam().engine).empty()) continue;
    Server server(server_engine, echo);
    const unsigned before = asking.answered;
    Dialling dialling(GetParam(), asking, {nobody, server.endpoint()}, 1, limits);
    dialling.run().wait();
    EXPECT_EQ(asking.answered, before + 1);
    break;
  }
}

TEST_P(MessageDialling, HearsThatItsConnectionIsUnknown) {
  AskOnce asking;
  MessagePeer server(*GetParam().engine);
  Dialling dialling(GetParam(), asking, {server.own()}, 1);
  const auto client = server.admit();
  server.await(DatagramKind::data);
  server.send({.kind = DatagramKind::left, .unknown = true, .token = server.token()}, {}, &client.from);
  dialling.run().wait();
  EXPECT_EQ(asking.failed, 1U);
  EXPECT_EQ(dialling.tally().failures(Stage::receive), 1U);
}

TEST_P(MessageDialling, WhatIsNotOfItsConnectionIsDropped) {
  AskOnce asking;
  MessagePeer server(*GetParam().engine);
  Dialling dialling(GetParam(), asking, {server.own()}, 1);
  const auto client = server.admit();
  const auto asked = server.await(DatagramKind::data);
  server.send({.kind = DatagramKind::data, .token = server.token() + 1}, "forged", &client.from);
  server.send({.kind = DatagramKind::left, .unknown = true, .token = server.token() + 1}, {}, &client.from);
  server.send_raw({}, &client.from);
  server.send_raw(as_bytes(std::string(3'000, 'x')), &client.from);
  server.send({.kind = DatagramKind::data, .token = server.token()}, asked.payload, &client.from);
  server.await(DatagramKind::leave);
  server.send({.kind = DatagramKind::left, .token = server.token(), .number = 1}, {}, &client.from);
  dialling.run().wait();
  EXPECT_EQ(asking.answered, 1U);
  EXPECT_EQ(dialling.tally().datagrams().foreign, 3U);
  EXPECT_EQ(dialling.tally().datagrams().truncated, 1U);
}

TEST_P(MessageDialling, EndsWhenItsServerDoes) {
  AskOnce asking;
  MessagePeer server(*GetParam().engine);
  Dialling dialling(GetParam(), asking, {server.own()}, 1);
  server.admit();
  server.await(DatagramKind::data);
  server.close();
  // It asks nothing more, so only its goodbye hears that nobody is there.
  dialling.run().stop().request();
  dialling.run().wait();
}

}  // namespace
}  // namespace joust::conformance
