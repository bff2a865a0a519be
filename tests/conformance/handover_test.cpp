// SPDX-License-Identifier: MIT
//
// The dialling role: a load whose server ends connections by its replies (MessageKind::last_reply).
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <thread>

#include "base/check.hpp"
#include "conformance/running.hpp"
#include "ending_exchange.hpp"
#include "joust/protocol.hpp"
#include "load/result.hpp"
#include "net/stop.hpp"

namespace joust::conformance {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kCrowd = 20;

// Answers so many requests of each connection, by their lines, and ends it with the last reply.
class EndingServer {
 public:
  enum class End : std::uint8_t { closes, resets, goes_on };

  EndingServer(std::uint64_t replies, End end, const std::string& address = "127.0.0.1:0")
      : replies_(replies), end_(end), endpoint_(endpoint_of(address)) {
    listener_ =
        Fd(checked(::socket(endpoint_.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket()"));
    checked(::bind(listener_.get(), endpoint_.raw(), endpoint_.size), "bind()");
    checked(::listen(listener_.get(), 1000), "listen()");
    endpoint_ = bound_address(listener_.get());
    thread_ = std::jthread([this] { serve(); });
  }
  ~EndingServer() {
    over_ = true;
    waker_.wake();
  }
  EndingServer(const EndingServer&) = delete;
  EndingServer& operator=(const EndingServer&) = delete;

  const Endpoint& endpoint() const { return endpoint_; }
  std::uint64_t accepted() const { return accepted_; }

 private:
  struct Client {
    Fd socket;
    std::uint64_t answered = 0;
    std::string asked{};  // of a line that is incomplete
  };

  void serve() {
    std::vector<pollfd> events;
    while (!over_) {
      events.assign({{waker_.fd(), POLLIN, 0}, {listener_.get(), POLLIN, 0}});
      for (const Client& client : clients_) events.push_back({client.socket.get(), POLLIN, 0});
      if (::poll(events.data(), events.size(), -1) < 0) continue;
      for (std::size_t i = clients_.size(); i > 0; --i)
        if (events[i + 1].revents != 0 && !answer(clients_[i - 1]))
          clients_.erase(clients_.begin() + static_cast<std::ptrdiff_t>(i - 1));
      Fd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!socket.is_open()) continue;
      ++accepted_;
      clients_.push_back({std::move(socket)});
    }
  }

  // All requests of one read; false when the connection is over.
  bool answer(Client& client) {
    std::array<char, 4096> bytes;
    const ssize_t n = ::recv(client.socket.get(), bytes.data(), bytes.size(), 0);
    if (n <= 0) return false;
    if (client.answered == replies_) return true;  // it goes on
    client.asked.append(bytes.data(), static_cast<std::size_t>(n));
    std::string replies;
    for (std::size_t end;
         (end = client.asked.find('\n')) != std::string::npos && client.answered < replies_;) {
      const bool is_last = ++client.answered == replies_;
      replies += client.asked.substr(0, end) + (is_last ? " last\n" : "\n");
      client.asked.erase(0, end + 1);
    }
    if (client.answered < replies_) return send(client, replies);
    if (end_ == End::goes_on) return send(client, replies + "and more of it\n");
    send(client, replies);
    const linger reset{.l_onoff = 1, .l_linger = 0};
    if (end_ == End::resets) ::setsockopt(client.socket.get(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    return false;
  }
  static bool send(Client& client, const std::string& text) {
    return ::send(client.socket.get(), text.data(), text.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(text.size());
  }

  const std::uint64_t replies_;
  const End end_;
  Endpoint endpoint_;
  std::atomic<std::uint64_t> accepted_{0};
  std::atomic<bool> over_{false};
  Waker waker_;
  Fd listener_;
  std::vector<Client> clients_;
  std::jthread thread_;
};

using End = EndingServer::End;

class HandedOver : public EngineTest {
 protected:
  // The result of a load that ends by itself, or is stopped after so many handovers.
  LoadResult load(LoadPlan plan, const EndingServer& server, std::uint64_t enough = UINT64_MAX) {
    plan.connections = kCrowd;
    LoadRun run(plan);
    run.begin(Clock::now());
    const auto client = exchange_client(test::EndingExchange::kFraming, [](const Parameters&) {
      return std::make_unique<test::EndingExchange>();
    })({}, run);
    Dialling dialling(GetParam(), *client, {server.endpoint()}, plan.connections);
    if (enough < UINT64_MAX) {
      const Time give_up = Clock::now() + kPatience;
      while (run.handovers() < enough && Clock::now() < give_up) std::this_thread::sleep_for(milliseconds(1));
      dialling.run().stop().request();
    }
    dialling.run().wait();
    handovers_ = run.handovers();
    return conclude(run, {}, false, Clock::now());
  }
  static void expect_clean(const LoadResult& result) {
    EXPECT_TRUE(result.clean()) << (result.messages_of_errors.empty() ? ""
                                                                      : result.messages_of_errors.front());
    EXPECT_EQ(result.messages.sent, result.messages.verified + result.messages.in_flight);
  }

  std::uint64_t handovers_ = 0;
};
JOUST_EVERY_ENGINE_EACH_CHOICE(HandedOver, Role::dial);

class HandedOverAsItComes : public HandedOver {};
JOUST_EVERY_ENGINE_AS_IT_COMES(HandedOverAsItComes, Role::dial);

TEST_P(HandedOver, AServerMayEndItsConnectionsByReplies) {
  checks(Duty::dialling);
  const EndingServer server(3, End::closes);
  const LoadResult result = load({.messages = 10}, server);
  expect_clean(result);
  EXPECT_EQ(result.messages.verified, 10 * kCrowd);
  EXPECT_EQ(handovers_, 3 * kCrowd);
  EXPECT_EQ(server.accepted(), 4 * kCrowd);
}

TEST_P(HandedOverAsItComes, AfterEachReply) {
  const std::uint64_t messages = GetParam().engine->separate_processes ? 5 : 20;  // each one is a fork there
  for (const End end : {End::closes, End::resets, End::goes_on}) {
    const EndingServer server(1, end);
    const LoadResult result = load({.messages = messages}, server);
    expect_clean(result);
    EXPECT_EQ(result.messages.verified, messages * kCrowd);
    EXPECT_EQ(handovers_, (messages - 1) * kCrowd);
  }
}

// It reads on, so that no request is on its way to a socket that is closed.
TEST_P(HandedOverAsItComes, RequestsOnTheirWayAreSentAgain) {
  const EndingServer server(5, End::goes_on);
  const LoadResult result = load({.messages = 40, .depth = 16}, server);
  expect_clean(result);
  EXPECT_EQ(result.messages.verified, 40 * kCrowd);
  EXPECT_EQ(handovers_, 7 * kCrowd);
}

TEST_P(HandedOverAsItComes, OverUnixSockets) {
  const EndingServer server(2, End::closes, unix_address());
  const LoadResult result = load({.messages = 10}, server);
  expect_clean(result);
  EXPECT_EQ(result.messages.verified, 10 * kCrowd);
}

TEST_P(HandedOver, TheLoadMayEndItsConnections) {
  checks(Duty::dialling);
  const EndingServer server(UINT64_MAX, End::closes);
  const LoadResult result = load({.messages = 10, .messages_per_connection = 3}, server);
  expect_clean(result);
  EXPECT_EQ(result.messages.verified, 10 * kCrowd);
  EXPECT_EQ(handovers_, 3 * kCrowd);
  EXPECT_EQ(server.accepted(), 4 * kCrowd);
}

// Stopped at any moment: in a dial, too.
TEST_P(HandedOverAsItComes, InAWindowAfterAWarmUp) {
  const EndingServer server(7, End::closes);
  const LoadPlan plan{.duration = std::chrono::hours(1), .warmup = milliseconds(10)};
  const LoadResult result = load(plan, server, 5 * kCrowd);
  EXPECT_GE(handovers_, 5 * kCrowd);
  EXPECT_EQ(result.connections.failed + result.messages.failed, 0U);
  EXPECT_EQ(result.messages.sent, result.messages.verified + result.messages.in_flight);
}

TEST_P(HandedOverAsItComes, InAnOpenLoop) {
  const EndingServer server(2, End::closes);
  const LoadResult result = load({.duration = milliseconds(500),
                                  .rate_per_s = 400,
                                  .arrivals = LoadPlan::Arrivals::constant,
                                  .depth = 4},
                                 server);
  expect_clean(result);
  EXPECT_EQ(result.due(), 200U);
  EXPECT_EQ(result.messages.verified, 200U) << "each of them, however late";
}

}  // namespace
}  // namespace joust::conformance
