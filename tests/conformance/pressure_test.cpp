// SPDX-License-Identifier: MIT
//
// A peer's behaviour costs other peers nothing, and the server no more than its limits.
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <future>

#include "conformance/running.hpp"
#include "conformance/scripted.hpp"
#include "conformance/services.hpp"

namespace joust::conformance {
namespace {

class Pressure : public EngineTest {};
JOUST_EVERY_ENGINE_EACH_CHOICE(Pressure, Role::serve);

class PressureOfAll : public CommonSessionsTest {};
JOUST_EVERY_ENGINE(PressureOfAll, Role::serve);

// Sends until the connection is closed; returns the number of bytes sent.
std::size_t push(Peer& peer, std::size_t most) {
  const std::string bytes = pattern(kMebi / 4);
  std::size_t taken = 0;
  while (taken < most) {
    pollfd room{.fd = peer.fd(), .events = POLLOUT, .revents = 0};
    if (::poll(&room, 1, static_cast<int>(kPatience / std::chrono::milliseconds(1))) != 1) break;
    const ssize_t n = ::send(peer.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno != EAGAIN) break;
    if (n > 0) taken += static_cast<std::size_t>(n);
  }
  return taken;
}

// A session that wants nothing is not read for: at most one read is held for it, and the rest stays with the
// peer.
TEST_P(PressureOfAll, WhatIsNotWantedStaysAtThePeer) {
  checks(Duty::back_pressure);
  ScriptedService service;
  Server server(GetParam(), service, {.socket = {.receive_buffer = 64 << 10}});
  Peer peer = service.join(server);
  peer.send("n");
  service.await_bytes(2, 0);
  const std::size_t taken = peer.send_until_full(std::string(10'000, '.'), 16 * kMebi);
  EXPECT_LT(taken, 8 * kMebi);
  service.want_again();
  peer.send("e");
  EXPECT_EQ(peer.receive(1), "e");
  EXPECT_EQ(service.bytes_of(0), 1 + 1 + taken + 1);
}

TEST_P(Pressure, PeerThatSendsWithoutReadingIsBoundedAndClosed) {
  Limits limits = brisk();
  limits.idle = std::chrono::seconds(1);  // longer than `modest` waits for spinning threads
  EchoService echo;
  Server server(GetParam(), echo,
                {.limits = limits, .socket = {.send_buffer = 64 << 10, .receive_buffer = 64 << 10}});
  Peer modest(server.endpoint());
  const std::size_t memory_before = resident_bytes();
  Peer greedy(server.endpoint(), 64 << 10);
  auto taken = std::async(std::launch::async, [&] { return push(greedy, 64 * kMebi); });
  std::size_t memory = 0;
  while (taken.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) {
    modest.send("me too");
    ASSERT_EQ(modest.receive(6), "me too");
    memory = std::max(memory, resident_bytes());
  }
  EXPECT_LT(taken.get(), 8 * kMebi);
  if (!is_sanitized()) {
    EXPECT_LT(memory, memory_before + 24 * kMebi);  // plus the engine's buffers
  }
  modest.close();
  server.stop();
  EXPECT_EQ(server.tally().failures(Stage::timeout), 1U);
}

// A thread's stack of 8 MiB for each connection would be partly resident.
TEST_P(Pressure, ConnectionCostsLittleMemory) {
  if (is_sanitized()) GTEST_SKIP() << "a sanitizer manages memory itself";
  constexpr std::size_t kPeers = 200;
  EchoService echo;
  Server server(GetParam(), echo);
  std::vector<Peer> peers;
  peers.reserve(kPeers);
  std::size_t before = 0;
  for (std::size_t i = 0; i < kPeers; ++i) {
    Peer& peer = peers.emplace_back(server.endpoint());
    peer.send("here");
    ASSERT_EQ(peer.receive(4), "here");
    if (i == 9) before = resident_bytes();  // not counting what the first peers allocate
  }
  // A connection with an event loop of its own has further descriptors, and the loop's memory.
  const std::size_t each = GetParam().engine->files_each > 1 ? 64U << 10 : 32U << 10;
  EXPECT_LT(resident_bytes(), before + kPeers * each);
}

TEST_P(Pressure, SlowReaderGetsEverything) {
  for (const std::string& address : {std::string("127.0.0.1:0"), unix_address()}) {
    EchoService echo;
    Server server(GetParam(), echo,
                  {.address = address, .socket = {.send_buffer = 16 << 10, .receive_buffer = 16 << 10}});
    Peer slow(server.endpoint(), 16 << 10);
    const std::string message = pattern(kMebi / 2);
    const auto sender = std::async(std::launch::async, [&] { slow.send(message); });
    std::string received;
    while (received.size() < message.size()) {
      received += slow.receive_some(4000);
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    EXPECT_TRUE(received == message);
  }
}

// Twenty peers that announce the largest frame and send one byte of it take memory only for that byte.
TEST_P(Pressure, AnnouncedBytesCostNothing) {
  EchoService echo(Length4{.largest = 16 * kMebi});
  Server server(GetParam(), echo);
  const std::size_t memory_before = resident_bytes();
  std::vector<Peer> announcers;
  for (int i = 0; i < 20; ++i) {
    announcers.emplace_back(server.endpoint());
    announcers.back().send({"\x00\xff\xff\xff.", 5});
  }
  Peer good(server.endpoint());
  const std::string frame = framed(Length4{}, "all well");
  good.send(frame);
  EXPECT_EQ(good.receive(frame.size()), frame);
  if (!is_sanitized()) {
    EXPECT_LT(resident_bytes(), memory_before + 16 * kMebi);
  }
}

TEST_P(Pressure, FlooderDoesNotStarveTheModest) {
  EchoService echo;
  Server server(GetParam(), echo);
  Peer flooder(server.endpoint());
  std::atomic<bool> enough{false};
  const auto flood = std::async(std::launch::async, [&] {
    const std::string bytes = pattern(kMebi / 4);
    while (!enough) flooder.send(bytes);
    flooder.finish();
  });
  const auto drain = std::async(std::launch::async, [&] {
    while (!flooder.receive_some(kMebi).empty()) continue;
  });
  std::vector<Peer> modest;
  for (int i = 0; i < 10; ++i) modest.emplace_back(server.endpoint());
  for (int round = 0; round < 20; ++round)
    for (Peer& peer : modest) {
      peer.send("modest");
      EXPECT_EQ(peer.receive(6), "modest");
    }
  enough = true;
}

}  // namespace
}  // namespace joust::conformance
