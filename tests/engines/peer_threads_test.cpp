// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <vector>

#include "engines/metronome.hpp"
#include "engines/room.hpp"
#include "engines/running.hpp"
#include "temporary_folder.hpp"

namespace joust::test {
namespace {

EngineOptions waiting(Wait wait) {
  EngineOptions options;
  options.wait = wait;
  return options;
}

class Threads : public testing::TestWithParam<Wait> {};

TEST_P(Threads, EchoesEveryByteToEveryPeer) {
  HandlerService service = echo_service();
  RunningServer server(*find_engine("threads"), service, {}, waiting(GetParam()));
  std::vector<Fd> peers;
  for (int i = 0; i < 60; ++i) peers.push_back(connect_to(server.address()));
  for (unsigned round = 0; round < 5; ++round) {
    for (unsigned i = 0; i < peers.size(); ++i) send_all(peers[i], pattern(1 + 997 * round, i));
    for (unsigned i = 0; i < peers.size(); ++i)
      ASSERT_EQ(receive(peers[i], 1 + 997 * round), pattern(1 + 997 * round, i));
  }
  peers.clear();
  server.finish();
  EXPECT_EQ(server.tally.opened, 60U);
  EXPECT_EQ(server.tally.failures(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Waits, Threads, testing::Values(Wait::block, Wait::spin, Wait::adaptive));

// Engines whose connections have threads of their own.
class PeerThreadsEngine : public testing::TestWithParam<const char*> {
 protected:
  static const Engine& engine() { return *find_engine(GetParam()); }
};

TEST_P(PeerThreadsEngine, ServesAllItsAddresses) {
  HandlerService service = echo_service();
  RunningServer server(engine(), service, {}, {},
                       std::vector{resolve("127.0.0.1:0")->front(), resolve("127.0.0.2:0")->front()});
  const std::vector<std::string> addresses = server.addresses();
  std::vector<Fd> peers;
  for (int i = 0; i < 10; ++i)
    for (const std::string& address : addresses) peers.push_back(connect_to(address));
  for (const Fd& peer : peers) send_all(peer, "x");
  for (const Fd& peer : peers) EXPECT_EQ(receive(peer, 1), "x");
  peers.clear();
  server.finish();
  EXPECT_EQ(server.tally.opened, 20U);
  for (const std::string& address : addresses)
    EXPECT_THROW(connect_to(address), std::system_error) << "a stop closes all";
}

TEST_P(PeerThreadsEngine, AnswersMoreThanTheSocketsHold) {
  HandlerService service = echo_service(Length4{});
  RunningServer server(engine(), service);
  const Fd peer = connect_to(server.address());
  std::string frames;
  for (unsigned i = 0; i < 30; ++i) frames += std::string("\0\x0f\xff\xff", 4) + pattern(0x0fffff, i);
  std::thread sender([&] { send_all(peer, frames); });
  const std::string echoed = receive(peer, frames.size());
  sender.join();
  EXPECT_TRUE(echoed == frames);
}

TEST_P(PeerThreadsEngine, AnswersThePeerThatHasEndedItsDirection) {
  HandlerService service = echo_service();
  RunningServer server(engine(), service);
  const Fd peer = connect_to(server.address());
  send_all(peer, "last words");
  ::shutdown(peer.get(), SHUT_WR);
  EXPECT_EQ(receive(peer, 100), "last words");
}

TEST_P(PeerThreadsEngine, JoinsThreadsAsTheyEnd) {
  HandlerService service = echo_service();
  RunningServer server(engine(), service);
  {
    const Fd peer = connect_to(server.address());
    send_all(peer, "x");
    receive(peer, 1);
  }
  const std::size_t threads_before = live_threads();
  for (int i = 0; i < 500; ++i) {
    const Fd peer = connect_to(server.address());
    send_all(peer, "x");
    ASSERT_EQ(receive(peer, 1), "x");
    ::shutdown(peer.get(), SHUT_WR);
    ASSERT_TRUE(at_end(peer));
  }
  EXPECT_LT(live_threads(), threads_before + 100);
}

TEST_P(PeerThreadsEngine, StopsInMidTrafficAndLeavesNothingBehind) {
  HandlerService service = echo_service();
  { RunningServer first(engine(), service); }
  const std::size_t descriptors = open_descriptors();
  const std::size_t live = live_threads();
  for (int i = 0; i < 200; ++i) {
    RunningServer server(engine(), service);
    std::vector<Fd> peers;
    for (int k = 0; k < 8; ++k) peers.push_back(connect_to(server.address()));
    for (const Fd& peer : peers) send_all(peer, pattern(20'000, 1));
    if (i % 2 == 0)
      server.finish_at_once();
    else
      std::thread([&] {
        for (Fd& peer : peers) {
          try {
            EXPECT_TRUE(pattern(20'000, 1).starts_with(receive(peer, 20'000)));
          } catch (const std::system_error&) {
          }
          peer.close();
        }
      }).join();
    server.finish();
  }
  EXPECT_EQ(open_descriptors(), descriptors);
  EXPECT_EQ(live_threads(), live);
}

TEST_P(PeerThreadsEngine, AnswersBeforeItEndsWhatHadArrivedBeforeTheStop) {
  for (int i = 0; i < 100; ++i) {
    HandlerService service = echo_service();
    RunningServer server(engine(), service);
    std::vector<Fd> peers;
    for (int k = 0; k < 10; ++k) peers.push_back(connect_to(server.address()));
    for (const Fd& peer : peers) send_all(peer, "asked in time");
    server.stop.request();
    for (const Fd& peer : peers) ASSERT_EQ(receive(peer, 100), "asked in time");
  }
}

TEST_P(PeerThreadsEngine, AStopDoesNotWaitForIdlePeers) {
  HandlerService service = echo_service();
  Limits limits;
  limits.drain = std::chrono::hours(1);
  RunningServer server(engine(), service, limits);
  std::vector<Fd> peers;
  for (int k = 0; k < 20; ++k) peers.push_back(connect_to(server.address()));
  for (const Fd& peer : peers) send_all(peer, "x");
  for (const Fd& peer : peers) receive(peer, 1);
  server.stop.request();
  for (const Fd& peer : peers) EXPECT_TRUE(at_end(peer));
  peers.clear();
  server.finish();
  EXPECT_EQ(server.tally.failures(), 0U);
}

TEST_P(PeerThreadsEngine, ASecondStopEndsAPeerThatDoesNotRead) {
  HandlerService service = echo_service();
  Limits limits;
  limits.drain = std::chrono::hours(1);
  RunningServer server(engine(), service, limits);
  const Fd peer = connect_to(server.address());
  const std::string much = pattern(64 << 10, 1);
  while (::send(peer.get(), much.data(), much.size(), MSG_DONTWAIT | MSG_NOSIGNAL) > 0) {
  }
  server.stop.request();
  server.finish_at_once();
  SUCCEED();
}

TEST_P(PeerThreadsEngine, WhatOneSaysEverybodyHears) {
  constexpr std::size_t kMembers = 40;
  constexpr std::size_t kMessages = 50;
  constexpr std::size_t kTotal = kMembers * kMessages * 32;
  Room room(kTotal);
  RunningServer server(engine(), room);
  std::vector<Fd> members;
  for (std::size_t i = 0; i < kMembers; ++i) members.push_back(connect_to(server.address()));
  std::vector<std::string> heard(kMembers);
  {
    std::vector<std::jthread> clients;
    for (std::size_t i = 0; i < kMembers; ++i)
      clients.emplace_back([&, i] {
        for (std::size_t k = 0; k < kMessages; ++k) send_all(members[i], std::string(32, 'a'));
        heard[i] = receive(members[i], kTotal);
      });
  }
  for (const std::string& text : heard) EXPECT_TRUE(text == heard.front() && text.size() == kTotal);
}

TEST_P(PeerThreadsEngine, ALaggardHoldsNobodyUpAndGetsItAllLater) {
  constexpr std::size_t kPiece = 64 << 10;
  constexpr std::size_t kPieces = 400;
  Room room(kPiece * kPieces);
  RunningServer server(engine(), room);
  const Fd laggard = connect_to(server.address());
  const Fd listener = connect_to(server.address());
  const Fd speaker = connect_to(server.address());
  std::string said;
  for (unsigned i = 0; i < kPieces; ++i) {
    const std::string piece = pattern(kPiece, i);
    said += piece;
    send_all(speaker, piece);
    ASSERT_TRUE(receive(listener, kPiece) == piece);
    ASSERT_TRUE(receive(speaker, kPiece) == piece);
  }
  EXPECT_TRUE(receive(laggard, said.size()) == said);
}

TEST_P(PeerThreadsEngine, WaitsForDescriptorsWithoutLosingAnybody) {
  HandlerService service = echo_service();
  RunningServer server(engine(), service);
  rlimit old{};
  checked(::getrlimit(RLIMIT_NOFILE, &old), "getrlimit()");
  std::vector<Fd> peers;
  for (int i = 0; i < 20; ++i)
    peers.emplace_back(checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket()"));
  const int lowest_free = Fd(checked(::dup(0), "dup()")).get();
  const rlimit tight{.rlim_cur = static_cast<rlim_t>(lowest_free) + 3, .rlim_max = old.rlim_max};
  checked(::setrlimit(RLIMIT_NOFILE, &tight), "setrlimit()");
  const Endpoint endpoint = resolve(server.address())->front();
  for (const Fd& peer : peers) {
    checked(::connect(peer.get(), endpoint.raw(), endpoint.size), "connect()");
    send_all(peer, "x");
  }
  while (server.tally.notes().empty()) std::this_thread::yield();
  for (Fd& peer : peers) {
    EXPECT_EQ(receive(peer, 1), "x");
    peer.close();
  }
  checked(::setrlimit(RLIMIT_NOFILE, &old), "setrlimit()");
}

TEST_P(PeerThreadsEngine, DialsAndSpeaksWhenItsSessionsWantTo) {
  HandlerService echo = echo_service();
  RunningServer server(engine(), echo);
  Metronome service(50, 10);
  Dialling client(service, server.address(), 50);
  engine().run(client.hosting, client.stop);
  EXPECT_EQ(service.beats_heard, 500);
  EXPECT_EQ(client.tally.failures(), 0U);
}

TEST_P(PeerThreadsEngine, CountsEveryRefusedConnectionOnce) {
  const std::string address = Listener(resolve("127.0.0.1:0")->front(), {}).address();
  Metronome service(30, 1);
  Dialling client(service, address, 30);
  engine().run(client.hosting, client.stop);
  EXPECT_EQ(service.refused, 30);
  EXPECT_EQ(client.tally.failures(Stage::connect), 30U);
}

TEST_P(PeerThreadsEngine, AStopEndsConnectsNobodyAnswers) {
  // A listener whose queue is full: further connects are left without an answer.
  SocketOptions one;
  one.backlog = 0;
  const Listener deaf(resolve("127.0.0.1:0")->front(), one);
  Metronome service(20, 1);
  Dialling client(service, deaf.address(), 20);
  client.limits.drain = std::chrono::hours(1);
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    client.stop.request();
  });
  engine().run(client.hosting, client.stop);
  stopper.join();
  EXPECT_EQ(client.tally.failures(), 0U);
}

TEST_P(PeerThreadsEngine, ServesAUnixSocket) {
  HandlerService service = echo_service();
  const TemporaryFolder folder;
  const std::string path = folder.file("socket");
  RunningServer server(engine(), service, {}, {}, "unix:" + path);
  const Fd peer = connect_to(server.address());
  send_all(peer, "hello");
  EXPECT_EQ(receive(peer, 5), "hello");
}

INSTANTIATE_TEST_SUITE_P(Engines, PeerThreadsEngine, testing::Values("threads", "two-threads"));

}  // namespace
}  // namespace joust::test
