// SPDX-License-Identifier: MIT
//
// Engines that fork, when there can be no further process.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <thread>
#include <vector>

#include "engines/running.hpp"
#include "failing_calls.hpp"

namespace joust::test {
namespace {

Limits brisk() {
  using std::chrono::milliseconds;
  return {.linger = milliseconds(200), .drain = milliseconds(500), .accept_pause = milliseconds(20)};
}

class Forking : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (const std::string reason = engine().unavailable(); !reason.empty()) GTEST_SKIP() << reason;
  }
  static const Engine& engine() { return *find_engine(GetParam()); }

  // Connects peers that have sent a byte, and returns when the engine has met the shortage.
  std::vector<Fd> peers_that_wait(RunningServer& server, std::size_t count) {
    std::vector<Fd> peers;
    for (std::size_t i = 0; i < count; ++i) {
      peers.push_back(connect_to(server.address()));
      send_all(peers.back(), "x");
    }
    while (server.tally.notes().empty()) std::this_thread::yield();
    return peers;
  }
};

TEST_P(Forking, PeersWaitForAProcess) {
  HandlerService service = echo_service();
  RunningServer server(engine(), service, brisk());
  std::vector<Fd> peers;
  {
    const Failing none(Call::fork, EAGAIN);
    peers = peers_that_wait(server, 5);
    EXPECT_GT(none.failed(), 0U);
  }
  for (const Fd& peer : peers) EXPECT_EQ(receive(peer, 1), "x");
  peers.clear();
  server.finish();
  EXPECT_EQ(server.tally.opened, 5U);
  EXPECT_EQ(server.tally.failures(), 0U);
}

// The first forks work: they are not enough for all processes of the last connection.
TEST_P(Forking, PeersWaitForAllProcessesOfTheirs) {
  for (std::uint64_t forks = 1; forks <= 4; ++forks) {
    HandlerService service = echo_service();
    RunningServer server(engine(), service, brisk());
    std::vector<Fd> peers;
    {
      const Failing most(Call::fork, EAGAIN, Failing::kAlways, forks);
      peers = peers_that_wait(server, 5);
    }
    for (const Fd& peer : peers) EXPECT_EQ(receive(peer, 1), "x");
    peers.clear();
    server.finish();
    EXPECT_EQ(server.tally.opened, 5U);
    EXPECT_EQ(server.tally.failures(), 0U);
  }
}

TEST_P(Forking, AStopDoesNotWaitForAProcessAndCountsWhoGetsNone) {
  HandlerService service = echo_service();
  RunningServer server(engine(), service, brisk());
  const Failing none(Call::fork, EAGAIN);
  const std::vector<Fd> peers = peers_that_wait(server, 3);
  server.finish();
  EXPECT_EQ(server.tally.opened, 0U);
  EXPECT_EQ(server.tally.unopened, 3U);
  EXPECT_EQ(server.tally.failures(Stage::local), 3U);
}

// Each process takes its time: a stop makes none behind its limit.
TEST_P(Forking, AStopForksNobodyBehindItsLimit) {
  HandlerService service = echo_service();
  Limits limits = brisk();
  limits.drain = Duration::zero();
  RunningServer server(engine(), service, limits);
  const Failing none(Call::fork, EAGAIN);
  const std::vector<Fd> peers = peers_that_wait(server, 5);
  server.finish();
  EXPECT_EQ(server.tally.opened + server.tally.unopened, 1U) << "the others were in the queue";
  EXPECT_EQ(std::ranges::count(server.tally.notes(), kLeftInQueue), 1);
}

TEST(ForkingClient, CountsConnectionsThatGetNoReader) {
  HandlerService echo = echo_service();
  RunningServer server(*find_engine("epoll"), echo);
  HandlerService service = echo_service();
  Dialling client(service, server.address(), 3);
  const Failing none(Call::fork, EAGAIN);
  find_engine("two-processes")->run(client.hosting, client.stop);
  EXPECT_EQ(client.tally.opened, 0U);
  EXPECT_EQ(client.tally.unopened, 3U);
  const std::vector<std::string> words{"connect " + server.address() +
                                       ": fork() of the reading process: Resource temporarily unavailable"};
  EXPECT_EQ(client.tally.complaints(), words);
}

INSTANTIATE_TEST_SUITE_P(Engines, Forking, testing::Values("processes", "two-processes"),
                         [](const auto& tested) { return std::string(tested.param).substr(0, 3); });

}  // namespace
}  // namespace joust::test
