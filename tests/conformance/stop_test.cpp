// SPDX-License-Identifier: MIT
//
// A stop answers earlier requests, ends in time whatever the peers do, and leaks nothing.
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "conformance/running.hpp"
#include "conformance/scripted.hpp"
#include "conformance/services.hpp"

namespace joust::conformance {
namespace {

class Stopping : public EngineTest {};
JOUST_EVERY_ENGINE(Stopping, Role::serve);

TEST_P(Stopping, WithNobodyThere) {
  EchoService echo;
  Server server(GetParam(), echo);
  for (const Time begun = Clock::now(); server.run().times_ready() == 0; std::this_thread::yield())
    ASSERT_LT(Clock::now() - begun, kPatience) << "it does not say that it serves";
  server.stop();
  EXPECT_EQ(server.run().times_ready(), 1U);
  EXPECT_EQ(server.tally().opened, 0U);
}

TEST_P(Stopping, RefusesNewPeers) {
  EchoService echo;
  Server server(GetParam(), echo);
  server.stop();
  EXPECT_THROW(Peer(server.endpoint()), std::system_error);
}

TEST_P(Stopping, PeersWithNothingUnderWayReadTheEnd) {
  checks(Duty::stop);
  EchoService echo(Line{});
  Server server(GetParam(), echo);
  Peer silent(server.endpoint());
  Peer served(server.endpoint());
  served.send("x\n");
  EXPECT_EQ(served.receive(2), "x\n");
  server.run().stop().request();
  EXPECT_EQ(silent.next(), Next::end);
  EXPECT_EQ(served.next(), Next::end);
}

TEST_P(Stopping, AnswersWhatHasArrived) {
  checks(Duty::stop);
  for (int i = 0; i < 10; ++i) {
    EchoService echo(Line{});
    Server server(GetParam(), echo);
    Peer peer(server.endpoint());
    peer.send("first\n");
    EXPECT_EQ(peer.receive(6), "first\n");
    peer.send("second\n");
    server.run().stop().request();
    EXPECT_EQ(peer.receive_to_end(), "second\n");
  }
}

// Peers that connected before the stop are served, even if few are accepted in one turn.
TEST_P(Stopping, WhoIsInTheQueueIsServed) {
  checks(Duty::queue_at_stop);
  constexpr int kQueued = 40;
  Limits limits = brisk();
  limits.accepts_per_turn = 4;
  limits.drain = kPatience;
  ScriptedService service;
  Server server(GetParam(), service, {.limits = limits});
  Peer holder = service.join(server);
  holder.send("h");
  service.gate().await_held();
  std::vector<Peer> queued;
  for (int i = 0; i < kQueued; ++i) queued.emplace_back(server.endpoint()).send("e");
  server.run().stop().request();
  service.let_go();
  for (Peer& peer : queued) EXPECT_EQ(peer.receive_to_end(), "e");
}

// A stop ends by its limit, however many have connected before it.
TEST_P(Stopping, WhoIsInTheQueueBehindTheLimitIsReset) {
  checks(Duty::queue_at_stop);
  constexpr unsigned kQueued = 40;
  Limits limits = brisk();
  limits.accepts_per_turn = 4;
  limits.drain = Duration::zero();
  ScriptedService service;
  Server server(GetParam(), service, {.limits = limits});
  Peer holder = service.join(server);
  Peer second = service.join(server);
  if (!service.on_one_thread() || has_several_workers(GetParam())) GTEST_SKIP() << "others would accept";
  holder.send("h");
  service.gate().await_held();
  std::vector<Peer> queued;
  for (unsigned i = 0; i < kQueued; ++i) queued.emplace_back(server.endpoint());
  server.run().stop().request();
  service.let_go();
  server.run().wait();
  // A ring may have accepted some of whom nobody has heard.
  for (const std::string& note : notes_of_duties(server.tally(), GetParam())) EXPECT_EQ(note, kLeftInQueue);
  EXPECT_LE(server.tally().opened, 2 + kQueued);
}

// The stop is known, and the thread is held again; input that arrives now arrives before sessions are told.
TEST_P(Stopping, AnswersWhatArrivesUntilSessionsAreTold) {
  checks(Duty::stop);
  ScriptedService service;
  Server server(GetParam(), service);
  Peer first = service.join(server);
  Peer second = service.join(server);
  Peer asking = service.join(server);
  if (!service.on_one_thread() || has_several_workers(GetParam()))
    GTEST_SKIP() << "these peers do not share a thread";
  first.send("h");
  service.gate().await_held();
  server.run().stop().request();
  second.send("h");
  service.let_go();
  service.gate().await_held();
  asking.send("e");
  service.let_go();
  EXPECT_EQ(asking.receive_to_end(), "e");
}

TEST_P(Stopping, ARequestInFlightIsFinished) {
  checks(Duty::stop);
  Limits limits = brisk();
  limits.drain = kPatience;
  EchoService echo(Length4{});
  Server server(GetParam(), echo, {.limits = limits});
  Peer peer(server.endpoint());
  Peer silent(server.endpoint());
  const std::string frame = framed(Length4{}, "begun before the stop");
  peer.send(frame.substr(0, 10));
  peer.hears_within(std::chrono::milliseconds(5));
  server.run().stop().request();
  EXPECT_EQ(silent.next(), Next::end);  // so the drain has begun
  peer.send(frame.substr(10));
  EXPECT_EQ(peer.receive_to_end(), frame);
}

TEST_P(Stopping, AReplyUnderWayIsSentToItsEnd) {
  checks(Duty::stop);
  Limits limits = brisk();
  limits.drain = kPatience;
  EchoService echo(Line{.largest = 1 << 20});
  Server server(GetParam(), echo, {.limits = limits});
  Peer peer(server.endpoint());
  const std::string line = framed(Line{}, pattern(1'000'000));
  peer.send(line);
  std::string reply = peer.receive(1);
  server.run().stop().request();
  reply += peer.receive_to_end();
  EXPECT_TRUE(reply == line);
}

TEST_P(Stopping, DoesNotWaitLongerThanTheDrainLimit) {
  checks(Duty::stop);
  Limits limits = brisk();
  limits.drain = std::chrono::milliseconds(50);
  limits.linger = kPatience * 2;
  EchoService echo(Length4{});
  Server server(GetParam(), echo, {.limits = limits});
  Peer never_ends(server.endpoint());
  Peer in_mid_frame(server.endpoint());
  in_mid_frame.send("\0\0");
  server.stop();
  EXPECT_NE(never_ends.next(), Next::data);
  EXPECT_NE(in_mid_frame.next(), Next::data);
}

TEST_P(Stopping, TheSecondStopEndsAtOnce) {
  checks(Duty::stop);
  Limits limits = brisk();
  limits.drain = limits.linger = kPatience * 2;
  EchoService echo(Length4{});
  Server server(GetParam(), echo, {.limits = limits});
  Peer in_mid_frame(server.endpoint());
  in_mid_frame.send({"\0\0\0\5h", 5});
  Peer silent(server.endpoint());
  server.run().stop().request();
  EXPECT_EQ(silent.next(), Next::end);
  EXPECT_FALSE(server.run().over_within(std::chrono::milliseconds(10)));
  server.stop();
}

// Sends until the connection is closed. All replies must match what was sent.
void flood(Peer peer) {
  const std::string bytes = pattern(5000);
  std::string received;
  try {
    while (peer.try_send(bytes)) {
      const std::string more = peer.receive_some(64 << 10);
      if (more.empty()) break;
      received += more;
    }
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code().value(), ECONNRESET);
  }
  for (std::size_t at = 0; at < received.size(); at += bytes.size())
    ASSERT_TRUE(bytes.starts_with(std::string_view(received).substr(at, bytes.size())));
}

TEST_P(Stopping, InMidTrafficAgainAndAgain) {
  checks(Duty::stop);
  constexpr int kStops = 20;
  constexpr int kPeers = 4;
  for (int i = 0; i < kStops; ++i) {
    EchoService echo;
    Server server(GetParam(), echo, {.address = i % 2 == 0 ? "127.0.0.1:0" : unix_address()});
    std::vector<std::future<void>> traffic;
    for (int peer = 0; peer < kPeers; ++peer)
      traffic.push_back(std::async(std::launch::async, flood, Peer(server.endpoint())));
    std::this_thread::sleep_for(std::chrono::microseconds(200 * i));
    server.stop();
    for (auto& part : traffic) part.get();
    EXPECT_LE(server.tally().opened, static_cast<unsigned>(kPeers));
  }
}

}  // namespace
}  // namespace joust::conformance
