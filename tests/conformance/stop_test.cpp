// SPDX-License-Identifier: MIT
//
// A stop answers what was asked before it, ends in time whatever the peers do, and leaves nothing behind.
#include <gtest/gtest.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <future>

#include "base/check.hpp"
#include "conformance/running.hpp"
#include "conformance/scripted.hpp"
#include "conformance/services.hpp"
#include "engines/loop/ready_io.hpp"

namespace joust::conformance {
namespace {

class Stopping : public EngineTest {};
JOUST_EVERY_ENGINE(Stopping, Role::serve);

TEST_P(Stopping, WithNobodyThere) {
  EchoService echo;
  Server server(GetParam(), echo);
  server.stop();
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

// Who has connected before the stop is served, however few are accepted in one turn.
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

// The stop is known, and the thread is held once more; what comes now has come before sessions are told.
TEST_P(Stopping, AnswersWhatArrivesUntilSessionsAreTold) {
  checks(Duty::stop);
  ScriptedService service;
  Server server(GetParam(), service);
  Peer first = service.join(server);
  Peer second = service.join(server);
  Peer asking = service.join(server);
  if (!service.on_one_thread()) GTEST_SKIP() << "these peers do not share a thread";
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

// Floods until the connection is gone. Whatever came back must have been sent.
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

// While others still come in, some in the accept queue and some on their way to another loop.
TEST_P(Stopping, WhilePeersConnect) {
  Limits limits = brisk();
  limits.drain = kPatience * 2;
  for (int i = 0; i < 4; ++i) {
    EchoService echo;
    Server server(GetParam(), echo, {.limits = limits});
    std::vector<Fd> connects;
    for (int peer = 0; peer < 20; ++peer) connects.push_back(begin_connect(server.endpoint()));
    server.run().stop().request();
    // The peers' ends stay open: those accepted must be told of the stop, or all wait for the drain limit.
    server.run().wait();
  }
}

// Has the first word, and nothing else to say.
class GreetingSession : public Session {
 public:
  void on_open(Time /*now*/) override { outbox_.append("hello"); }
  std::size_t on_bytes(Bytes chunk, Time /*now*/) override { return chunk.size(); }
  void on_peer_finished(Time /*now*/) override { finished_ = true; }
  void on_drain(Time /*now*/) override { finished_ = true; }
  std::size_t output(std::span<Segment> into) const override { return outbox_.segments(into); }
  bool finished() const override { return finished_; }
  void consumed(std::size_t n) override { outbox_.consumed(n); }
  void released(std::size_t n) override { outbox_.released(n); }

 private:
  Outbox outbox_;
  bool finished_ = false;
};

class GreetingService : public Service {
 public:
  std::unique_ptr<Session> open(const Opening& /*opening*/) override {
    return std::make_unique<GreetingSession>();
  }
};

// Connects again and again until the listener is gone. A connect that is still waiting when the server has
// stopped was never accepted: TCP repeats its SYN a second later.
std::vector<Peer> connect_to_the_last(const Endpoint& to, const std::atomic<bool>& stopped) {
  std::vector<Peer> peers;
  try {
    for (;;) {
      Fd socket = begin_connect(to);
      pollfd connected{.fd = socket.get(), .events = POLLOUT, .revents = 0};
      while (::poll(&connected, 1, 10) == 0)
        if (stopped) return peers;
      if (connect_result(socket.get()) != 0) return peers;
      checked(::fcntl(socket.get(), F_SETFL, 0), "fcntl(F_SETFL)");  // a Peer blocks
      peers.emplace_back(std::move(socket));
    }
  } catch (const std::system_error&) {
    return peers;
  }
}

// A reset that falls into connect() leaves nothing to read but an end; who was served and closed in order
// still has a peer's address.
bool was_reset(Peer& peer) {
  const Next next = peer.next();
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  const int named = ::getpeername(peer.fd(), reinterpret_cast<sockaddr*>(&address), &size);
  return next == Next::reset || (next == Next::end && named < 0);
}

// Who is still in the queue when the listener closes is reset. Whoever was accepted is greeted, also on the
// way to another loop.
TEST_P(Stopping, NobodyWhoWasAcceptedIsLost) {
  checks(Duty::stop);
  Limits limits = brisk();
  limits.linger = std::chrono::milliseconds(1);
  limits.drain = kPatience;
  Variant variant = GetParam();
  if (variant.engine->several_loops) variant.options.threads = 3;
  for (int i = 0; i < 20; ++i) {
    GreetingService greeting;
    // A short queue: all who are in it at the stop are served, and a thread for each takes its time.
    Server server(variant, greeting, {.limits = limits, .socket = {.backlog = 64}});
    std::atomic<bool> stopped{false};
    std::vector<std::future<std::vector<Peer>>> connecting;
    for (int thread = 0; thread < 2; ++thread)
      connecting.push_back(
          std::async(std::launch::async, connect_to_the_last, server.endpoint(), std::cref(stopped)));
    std::this_thread::sleep_for(std::chrono::microseconds(100 * i));
    server.stop();
    stopped = true;
    for (auto& peers : connecting) {
      for (Peer& peer : peers.get()) {
        // The kernel may forget without a word whom it was about to queue; it resets them when they speak.
        if (!peer.hears_within(std::chrono::milliseconds(100))) peer.send("?");
        if (was_reset(peer)) continue;
        EXPECT_EQ(peer.receive_to_end(), "hello");
      }
    }
  }
}

}  // namespace
}  // namespace joust::conformance
