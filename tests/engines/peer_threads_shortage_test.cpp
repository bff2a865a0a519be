// SPDX-License-Identifier: MIT
//
// Engines whose connections have threads of their own, when the machine runs short of something.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "engines/metronome.hpp"
#include "engines/running.hpp"
#include "failing_calls.hpp"

namespace joust::test {
namespace {

class PeerThreadsShortage : public testing::TestWithParam<const char*> {
 protected:
  static const Engine& engine() { return *find_engine(GetParam()); }
};

TEST_P(PeerThreadsShortage, PeersWaitInTheQueueForAThread) {
  HandlerService service = echo_service();
  RunningServer server(engine(), service);
  std::vector<Fd> peers;
  {
    const Failing none(Call::pthread_create, EAGAIN);
    for (int i = 0; i < 10; ++i) {
      peers.push_back(connect_to(server.address()));
      send_all(peers.back(), "x");
    }
    while (server.tally.notes().empty()) std::this_thread::yield();
    EXPECT_GT(none.failed(), 0U);
  }
  for (const Fd& peer : peers) EXPECT_EQ(receive(peer, 1), "x");
  peers.clear();
  server.finish();
  EXPECT_EQ(server.tally.opened, 10U);
  EXPECT_EQ(server.tally.failures(), 0U);
}

TEST_P(PeerThreadsShortage, ADialWithoutAThreadIsCountedOnce) {
  HandlerService echo = echo_service();
  RunningServer server(*find_engine("epoll"), echo);  // needs no threads
  Metronome service(20, 1);
  Dialling client(service, server.address(), 20);
  {
    const Failing none(Call::pthread_create, EAGAIN, 5, 3);
    engine().run(client.hosting, client.stop);
    EXPECT_EQ(none.failed(), 5U);
  }
  EXPECT_EQ(service.refused, 5);
  EXPECT_EQ(client.tally.failures(Stage::local), 5U);
  EXPECT_EQ(client.tally.failures(), 5U);
  EXPECT_EQ(service.beats_heard, 15);
}

// A service whose connections stay, and that has others dialled in place of those that could not be opened.
class Staying : public Service {
 public:
  std::unique_ptr<Session> open(const ConnectionInfo& info) override {
    ++opened;
    return echo_.open(info);
  }
  void not_opened(const Failure&, Time) override { ++refused; }
  std::optional<Redial> redial(Time now) override {
    return opened + refused < 10 ? std::optional(Redial{.at = now}) : std::nullopt;
  }

  std::atomic<int> opened{0}, refused{0};

 private:
  HandlerService echo_ = echo_service();
};

// Some of the threads of a connection may have been started before one could not be.
TEST_P(PeerThreadsShortage, ADialWithoutAThreadIsDialledAgainOnce) {
  HandlerService echo = echo_service();
  RunningServer server(*find_engine("epoll"), echo);
  Staying service;
  Dialling client(service, server.address(), 1);
  std::thread watch([&] {
    while (service.opened == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(200));  // for one that is too many
    client.stop.request();
  });
  const bool has_two = std::string_view(GetParam()) == "two-threads";
  {
    const Failing none(Call::pthread_create, EAGAIN, 1, has_two ? 1 : 0);
    engine().run(client.hosting, client.stop);
    EXPECT_EQ(none.failed(), 1U);
  }
  watch.join();
  EXPECT_EQ(service.refused, 1);
  EXPECT_EQ(service.opened, 1);
}

// A host that cannot wait does not take that for peers, does not spin, and goes on as soon as it can.
TEST_P(PeerThreadsShortage, AHostThatCannotWaitTriesAgain) {
  HandlerService service = echo_service();
  RunningServer server(engine(), service);
  const Fd peer = connect_to(server.address());
  send_all(peer, "accepted");
  EXPECT_EQ(receive(peer, 8), "accepted");
  {
    const Failing no_memory(Call::ppoll, ENOMEM);
    const Fd waiting = connect_to(server.address());  // has the host look at its listener
    const auto begin = Clock::now();
    while (no_memory.failed() < 10) std::this_thread::yield();
    EXPECT_GT(Clock::now() - begin, std::chrono::milliseconds(50));
    send_all(peer, "served meanwhile");
    EXPECT_EQ(receive(peer, 16), "served meanwhile");
  }
  send_all(peer, "and afterwards");
  EXPECT_EQ(receive(peer, 14), "and afterwards");
  const Fd later = connect_to(server.address());
  send_all(later, "x");
  EXPECT_EQ(receive(later, 1), "x");
  EXPECT_EQ(server.tally.notes(), std::vector<std::string>{"waits failed for want of kernel memory"});
}

// Sessions with deadlines wait in ppoll, so all connections and the host are met.
TEST(ThreadsShortage, ConnectionsThatCannotWaitTryAgain) {
  HandlerService echo = echo_service();
  RunningServer server(*find_engine("threads"), echo);
  Metronome service(10, 10);
  Dialling client(service, server.address(), 10);
  {
    const Failing no_memory(Call::ppoll, ENOMEM, 40, 20);
    find_engine("threads")->run(client.hosting, client.stop);
    EXPECT_EQ(no_memory.failed(), 40U);
  }
  EXPECT_EQ(service.beats_heard, 100);
  EXPECT_EQ(client.tally.failures(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Engines, PeerThreadsShortage, testing::Values("threads", "two-threads"));

}  // namespace
}  // namespace joust::test
