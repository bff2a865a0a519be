// SPDX-License-Identifier: MIT
//
// A stop while peers connect: each of them is served or refused.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>
#include <vector>

#include "base/check.hpp"
#include "conformance/running.hpp"
#include "conformance/services.hpp"
#include "engines/loop/ready_io.hpp"
#include "joust/outbox.hpp"

namespace joust::conformance {
namespace {

class StoppingWhileTheyConnect : public EngineTest {};
JOUST_EVERY_ENGINE(StoppingWhileTheyConnect, Role::serve);

// Peers are still connecting: some are in the accept queue, some on their way to another loop.
TEST_P(StoppingWhileTheyConnect, EndsThoughTheyKeepTheirEndsOpen) {
  Limits limits = brisk();
  limits.linger = std::chrono::milliseconds(40);
  limits.drain = kPatience * 2;
  for (int i = 0; i < 4; ++i) {
    EchoService echo;
    Server server(GetParam(), echo, {.limits = limits});
    std::vector<Fd> connects;
    for (int peer = 0; peer < 20; ++peer) connects.push_back(begin_connect(server.endpoint()));
    server.run().stop().request();
    // The peers do not close: without being told of the stop, the accepted ones would last until the drain
    // limit.
    server.run().wait();
  }
}

// Peers in the accept queue are not served after a second stop, but reset.
TEST_P(StoppingWhileTheyConnect, ASecondStopResetsWhoIsInTheQueue) {
  checks(Duty::queue_at_stop);
  Limits limits = brisk();
  limits.connections = 1;
  limits.drain = limits.linger = kPatience * 2;
  EchoService echo(Length4{});
  Server server(GetParam(), echo, {.limits = limits});
  Peer in_mid_frame(server.endpoint());
  in_mid_frame.send({"\0\0\0\1x\0\0\0\5h", 10});
  in_mid_frame.receive(5);
  Peer queued(server.endpoint());
  server.run().stop().request();
  server.stop();
  EXPECT_NE(queued.next(), Next::data);
}

// Sends a greeting, and nothing else.
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
  std::unique_ptr<Session> open(const ConnectionInfo& /*info*/) override {
    return std::make_unique<GreetingSession>();
  }
};

// Connects again and again until the listener is closed. A connect still waiting when the server has stopped
// was never accepted, because TCP repeats its SYN a second later.
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

// A reset during connect() leaves only an end of stream to read. A socket that was served and closed normally
// still has a peer address.
bool was_reset(Peer& peer) {
  const Next next = peer.next();
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  const int named = ::getpeername(peer.fd(), reinterpret_cast<sockaddr*>(&address), &size);
  return next == Next::reset || (next == Next::end && named < 0);
}

// Peers still in the queue when the listener closes are reset. Accepted peers are greeted, also those on
// their way to another loop.
TEST_P(StoppingWhileTheyConnect, NobodyWhoWasAcceptedIsLost) {
  checks(Duty::stop);
  Limits limits = brisk();
  limits.linger = std::chrono::milliseconds(1);
  limits.drain = kPatience;
  Variant variant = GetParam();
  if (variant.engine->several_loops && variant.engine->clients_wait.empty()) variant.options.threads = 3;
  // An engine that forks takes longer for each round: it has fewer, over the same range of delays.
  const int rounds = variant.engine->separate_processes ? 5 : 20;
  for (int i = 0; i < rounds; ++i) {
    GreetingService greeting;
    // A short queue, because a stop serves all peers in it, and starting a thread for each takes time.
    const int backlog = forks_slowly(variant) ? 8 : 64;
    Server server(variant, greeting, {.limits = limits, .socket = {.backlog = backlog}});
    std::atomic<bool> stopped{false};
    std::vector<std::future<std::vector<Peer>>> connecting;
    for (int thread = 0; thread < 2; ++thread)
      connecting.push_back(
          std::async(std::launch::async, connect_to_the_last, server.endpoint(), std::cref(stopped)));
    std::this_thread::sleep_for(std::chrono::microseconds(2000 * i / rounds));
    server.stop();
    stopped = true;
    for (auto& peers : connecting) {
      for (Peer& peer : peers.get()) {
        // The kernel may silently drop a peer that it was about to queue; it resets the peer when that sends.
        if (!peer.hears_within(std::chrono::milliseconds(100))) peer.send("?");
        if (was_reset(peer)) continue;
        EXPECT_EQ(peer.receive_to_end(), "hello");
      }
    }
  }
}

}  // namespace
}  // namespace joust::conformance
