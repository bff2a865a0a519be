// SPDX-License-Identifier: MIT
//
// What only the engines on Qt have to promise.
#include <gtest/gtest.h>

#include <poll.h>

#include <array>
#include <csignal>
#include <fstream>

#include "engines/few_descriptors.hpp"
#include "engines/running.hpp"
#include "failing_calls.hpp"
#include "forked.hpp"
#include "load/run.hpp"
#include "protocols/table.hpp"

namespace joust::test {
namespace {

// Shows 64 MiB to its peer.
class Flood : public Service {
 public:
  std::unique_ptr<Session> open(const ConnectionInfo&) override { return std::make_unique<Shown>(bytes_); }

 private:
  class Shown : public Session {
   public:
    explicit Shown(Bytes bytes) : left_(bytes) {}
    std::size_t on_bytes(Bytes chunk, Time) override { return chunk.size(); }
    void on_drain(Time) override {}
    std::size_t output(std::span<Segment> into) const override {
      if (left_.empty() || into.empty()) return 0;
      into.front().bytes = left_;
      return 1;
    }
    bool finished() const override { return left_.empty(); }
    void consumed(std::size_t n) override { left_ = left_.subspan(n); }
    void released(std::size_t) override {}

   private:
    Bytes left_;
  };

  const std::vector<std::byte> bytes_ = std::vector<std::byte>(64 << 20);
};

std::size_t resident_mib() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) >> 20;
}

class QtEngines : public testing::Test {
 protected:
  void SetUp() override {
    const Engine& any = *find_engine("qt");
    if (any.unavailable && !any.unavailable().empty()) GTEST_SKIP() << any.unavailable();
  }
};

TEST_F(QtEngines, ClientsBeyondThePoolWaitAndAreCounted) {
  HandlerService echo = echo_service();
  RunningServer server(*find_engine("qt-pool"), echo, {}, {.threads = 2});
  {
    Fd first = connect_to(server.address()), second = connect_to(server.address());
    for (const Fd* peer : {&first, &second}) {
      send_all(*peer, "me");
      EXPECT_EQ(receive(*peer, 2), "me");
    }
    const Fd third = connect_to(server.address());
    send_all(third, "and me");
    pollfd reply{.fd = third.get(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&reply, 1, 50), 0) << "both threads are occupied";
    second.close();
    EXPECT_EQ(receive(third, 6), "and me");
  }
  server.finish();
  const std::vector<std::string> expected{"1 of 3 clients waited for one of the 2 threads (-t)"};
  EXPECT_EQ(server.tally.notes(), expected);
}

TEST_F(QtEngines, AStopAnswersClientsThatWait) {
  HandlerService echo = echo_service(Line{});
  RunningServer server(*find_engine("qt-pool"), echo, {}, {.threads = 1});
  Fd served = connect_to(server.address());
  send_all(served, "x\n");
  EXPECT_EQ(receive(served, 2), "x\n");
  const Fd waiting = connect_to(server.address());
  send_all(waiting, "y\n");
  server.stop.request();
  EXPECT_TRUE(at_end(served));
  served.close();
  EXPECT_EQ(receive(waiting, 3), "y\n");
}

// Qt ignores it, in the whole process, at the first write.
TEST_F(QtEngines, LeaveSigpipeAsItWas) {
  HandlerService echo = echo_service();
  RunningServer server(*find_engine("qt"), echo);
  const Fd peer = connect_to(server.address());
  send_all(peer, "x");
  EXPECT_EQ(receive(peer, 1), "x");
  server.finish();
  struct sigaction now {};
  ::sigaction(SIGPIPE, nullptr, &now);
  EXPECT_EQ(now.sa_handler, SIG_DFL);
}

// A pool of Qt does not notice that it has not got one, and would wait for it for ever.
TEST_F(QtEngines, PeersOfThePoolWaitForThreads) {
  HandlerService echo = echo_service();
  RunningServer server(*find_engine("qt-pool"), echo, {}, {.threads = 5});
  std::vector<Fd> peers;
  peers.push_back(connect_to(server.address()));
  send_all(peers.back(), "x");
  EXPECT_EQ(receive(peers.back(), 1), "x") << "it serves";
  {
    const Failing none(Call::pthread_create, EAGAIN);
    for (int i = 0; i < 4; ++i) {
      peers.push_back(connect_to(server.address()));
      send_all(peers.back(), "x");
    }
    while (server.tally.notes().empty()) std::this_thread::yield();
    EXPECT_GT(none.failed(), 0U);
  }
  for (const Fd& peer : std::span(peers).subspan(1)) EXPECT_EQ(receive(peer, 1), "x");
  peers.clear();
  server.finish();
  EXPECT_EQ(server.tally.opened, 5U);
  EXPECT_EQ(server.tally.failures(), 0U);
}

TEST_F(QtEngines, APeerWhoseThreadCannotStartIsNotLost) {
  HandlerService echo = echo_service();
  RunningServer server(*find_engine("qt-threads"), echo);
  std::vector<Fd> peers;
  const auto bring_peer = [&] {
    peers.push_back(connect_to(server.address()));
    send_all(peers.back(), "x");
    EXPECT_EQ(receive(peers.back(), 1), "x");
  };
  bring_peer();
  {
    const Failing one(Call::pthread_create, EAGAIN, 1, 1);
    bring_peer();
    bring_peer();
    EXPECT_EQ(one.failed(), 1U);
  }
  peers.clear();
  server.finish();
  EXPECT_EQ(server.tally.failures(), 0U);
}

// GLib aborts the program when a thread cannot make its descriptors.
TEST_F(QtEngines, PeersOfThePoolWaitForDescriptors) {
  HandlerService echo = echo_service();
  RunningServer server(*find_engine("qt-pool"), echo, {}, {.threads = 40});
  {
    const Fd first = connect_to(server.address());
    send_all(first, "x");
    EXPECT_EQ(receive(first, 1), "x") << "it serves";
  }
  const Endpoint endpoint = resolve(server.address())->front();
  std::vector<Fd> peers;
  for (int i = 0; i < 20; ++i)
    peers.emplace_back(checked(::socket(endpoint.family(), SOCK_STREAM | SOCK_CLOEXEC, 0), "socket()"));
  {
    const DescriptorsLeft few(20);  // half of what the server needs for them
    for (const Fd& peer : peers) {
      checked(::connect(peer.get(), endpoint.raw(), endpoint.size), "connect()");
      send_all(peer, "x");
    }
    while (server.tally.notes().empty()) std::this_thread::yield();
  }
  for (const Fd& peer : peers) EXPECT_EQ(receive(peer, 1), "x");
  peers.clear();
  server.finish();
  EXPECT_EQ(server.tally.failures(), 0U);
}

// A server of echo in a process of its own, so that it takes no descriptor of the engine that dials it: Qt
// ends a program whose event loop finds none, and between the question and the loop a server here could take
// the last.
class EchoProcess {
 public:
  EchoProcess() : process_([this] { return serve(); }) {
    char address[64] = {};
    checked(::recv(ends_[0].get(), address, sizeof(address) - 1, 0), "recv()");
    address_ = address;
  }
  ~EchoProcess() {
    ::shutdown(ends_[0].get(), SHUT_RDWR);  // ends the server
    EXPECT_EQ(process_.exit_code(), 0);
  }
  EchoProcess(const EchoProcess&) = delete;
  EchoProcess& operator=(const EchoProcess&) = delete;

  const std::string& address() const { return address_; }

 private:
  static std::array<Fd, 2> joined() {
    std::array<int, 2> ends{};
    checked(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), "socketpair()");
    return {Fd(ends[0]), Fd(ends[1])};
  }
  int serve() const {
    HandlerService echo = echo_service();
    const RunningServer server(*find_engine("epoll"), echo);
    ::send(ends_[1].get(), server.address().data(), server.address().size(), MSG_NOSIGNAL);
    for (char end = 0; ::recv(ends_[1].get(), &end, 1, 0) > 0;) continue;
    return 0;
  }

  const std::array<Fd, 2> ends_ = joined();
  const Forked process_;
  std::string address_;
};

class QtClients : public QtEngines, public testing::WithParamInterface<const char*> {};

// Those for which there is no client cannot dial by themselves.
TEST_P(QtClients, AreMadeAgainForALoadThatReconnects) {
  constexpr std::size_t kConnections = 20;
  const EchoProcess server;
  LoadRun load({.connections = kConnections,
                .messages = 10,
                .duration = std::chrono::hours(1),
                .reconnect = LoadPlan::Reconnect::always,
                .backoff_least = std::chrono::milliseconds(2),
                .backoff_most = std::chrono::milliseconds(20)});
  load.begin(Clock::now());
  const auto service = builtin_protocols().front().make_client({.payload = 1}, load);
  Dialling client(*service, server.address(), kConnections);
  if (GetParam() == std::string_view("qt-pool")) client.options.threads = kConnections;
  std::jthread run;
  {
    const DescriptorsLeft few(kConnections + 30);
    run = std::jthread([&] { find_engine(GetParam())->run(client.hosting, client.stop); });
    while (load.failures(Stage::local) + load.failures(Stage::connect) == 0) std::this_thread::yield();
  }
  run.join();
  EXPECT_EQ(load.recorder().counts().verified, 10 * kConnections);
  EXPECT_EQ(load.connections_failed(), 0U);
}
INSTANTIATE_TEST_SUITE_P(Engines, QtClients, testing::Values("qt-threads", "qt-pool"));

// Qt copies what a socket does not take.
TEST_F(QtEngines, DoNotCopyWhatThePeerDoesNotRead) {
  Flood flood;
  RunningServer server(*find_engine("qt"), flood);
  const std::size_t before = resident_mib();
  std::vector<Fd> peers;
  for (int i = 0; i < 4; ++i) {
    peers.push_back(connect_to(server.address()));
    EXPECT_EQ(receive(peers.back(), 1).size(), 1U);
  }
  peers.push_back(connect_to(server.address()));
  EXPECT_EQ(receive(peers.back(), 1).size(), 1U) << "the loop has done with the others";
  EXPECT_LT(resident_mib() - before, 64U);
  peers.clear();
  server.finish_at_once();
}

}  // namespace
}  // namespace joust::test
