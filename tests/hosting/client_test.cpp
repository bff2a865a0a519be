// SPDX-License-Identifier: MIT
#include "joust/client.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>

#include "engines/engine.hpp"
#include "engines/running.hpp"
#include "hosting/can_run.hpp"
#include "hosting/protocols.hpp"
#include "joust/server.hpp"

namespace joust {
namespace {

using test::prefix_protocol;

TEST(Client, VerifiesEveryReply) {
  Server server(prefix_protocol());
  server.start();
  Client client(prefix_protocol(),
                {.connect = server.address(), .load = {.connections = 5, .messages = 200}});
  for (int i = 0; i < 2; ++i) {
    const ClientResult result = client.run();
    EXPECT_TRUE(result.clean());
    EXPECT_EQ(result.connections_opened, 5U);
    EXPECT_EQ(result.connections_failed, 0U);
    EXPECT_EQ(result.messages_sent, 1000U);
    EXPECT_EQ(result.messages_verified, 1000U);
    EXPECT_GT(result.window, Duration{});
    EXPECT_GT(result.messages_per_s, 0);
    ASSERT_TRUE(result.latencies.p50 && result.latencies.p99);
    EXPECT_LE(result.latencies.min, *result.latencies.p50);
    EXPECT_LE(*result.latencies.p50, *result.latencies.p99);
    EXPECT_LE(*result.latencies.p99, result.latencies.max);
    EXPECT_FALSE(result.latencies.p99_9) << "1 reply lies beyond: no percentile";
    EXPECT_TRUE(result.complaints.empty());
  }
}

TEST(Client, ComesBackToAServerThatIsStartedAgain) {
  ClientOptions options{.load = {.connections = 3,
                                 .messages = 100,
                                 .interval = std::chrono::milliseconds(2),
                                 .reconnect = LoadPlan::Reconnect::always,
                                 .backoff_least = std::chrono::milliseconds(5),
                                 .reconnect_for = std::chrono::minutes(1)}};
  std::optional<Server> server(std::in_place, prefix_protocol());
  options.connect = server->address();
  server->start();
  Client client(prefix_protocol(), options);
  ClientResult result;
  {
    const std::jthread running([&] { result = client.run(); });
    while (server->statistics().connections_opened < 3) std::this_thread::yield();
    server.reset();
    server.emplace(prefix_protocol(), ServerOptions{.listen = options.connect});
    server->start();
  }
  EXPECT_EQ(result.reconnects, 3U);
  EXPECT_EQ(result.connections_failed, 0U);
  EXPECT_EQ(result.messages_sent, 300U);
  EXPECT_EQ(result.messages_sent, result.messages_verified + result.messages_failed);
}

TEST(Client, RefusesToReconnectWhereItCannot) {
  const LoadPlan plan{.reconnect = LoadPlan::Reconnect::always};
  EXPECT_THROW(Client(prefix_protocol(), {.engine = "null", .load = plan}), std::invalid_argument);
  Protocol final = prefix_protocol();
  final.no_reconnect = "a reason";
  EXPECT_THROW(Client(final, {.connect = "127.0.0.1:1", .load = plan}), std::invalid_argument);
  LoadPlan hasty = plan;
  hasty.backoff_least = {};
  EXPECT_THROW(Client(prefix_protocol(), {.connect = "127.0.0.1:1", .load = hasty}), std::invalid_argument);
}

TEST(Client, AnswersInProcessWithoutAnAddress) {
  Client client(prefix_protocol(), {.engine = "null", .load = {.connections = 3, .messages = 10}});
  EXPECT_EQ(client.run().messages_verified, 30U);
}

// Those that can run here.
std::vector<const Engine*> dialling_engines() {
  std::vector<const Engine*> some;
  for (const Engine* engine : engines())
    if (engine->dials && test::can_run(*engine)) some.push_back(engine);
  return some;
}

// Of an engine that delivers as this one does.
ServerOptions server_for(const Engine& client) {
  const bool is_stream = !client.delivery.by_message();
  return {.engine = is_stream ? ServerOptions{}.engine : std::string(client.name),
          .listen = std::string(client.listens_at())};
}

// Two loops where the engine has several: their threads share the run and its records.
ClientResult open_loop(const Engine& engine, const std::string& address, LoadPlan load) {
  const unsigned several = engine.clients_wait.empty() ? 2U : static_cast<unsigned>(load.connections);
  ClientOptions options{
      .engine = std::string(engine.name), .load = load, .threads = engine.several_loops ? several : 1U};
  if (!engine.in_process) options.connect = address;
  return Client(prefix_protocol(), options).run();
}

TEST(Client, KeepsAScheduleOnEveryEngine) {
  for (const Engine* engine : dialling_engines()) {
    Server server(prefix_protocol(), server_for(*engine));
    server.start();
    const ClientResult kept = open_loop(*engine, server.address(),
                                        {.connections = 8,
                                         .duration = std::chrono::milliseconds(200),
                                         .rate_per_s = 1000,
                                         .arrivals = LoadPlan::Arrivals::constant});
    EXPECT_TRUE(kept.clean()) << engine->name;
    EXPECT_EQ(kept.messages_sent, 200U) << engine->name;
    EXPECT_EQ(kept.messages_verified, 200U) << engine->name;
    EXPECT_GE(kept.latencies.max, kept.uncorrected.max) << engine->name;
  }
}

TEST(Client, EndsThoughTheRateIsBeyondEveryEngine) {
  for (const Engine* engine : dialling_engines()) {
    Server server(prefix_protocol(), server_for(*engine));
    server.start();
    const ClientResult beyond = open_loop(*engine, server.address(),
                                          {.connections = 8,
                                           .duration = std::chrono::milliseconds(100),
                                           .rate_per_s = 50e6,
                                           .arrivals = LoadPlan::Arrivals::poisson,
                                           .depth = 16,
                                           .request_timeout = std::chrono::milliseconds(500)});
    EXPECT_EQ(beyond.messages_sent, beyond.messages_verified + beyond.messages_failed + beyond.messages_lost +
                                        beyond.messages_in_flight)
        << engine->name;
    EXPECT_GT(beyond.messages_verified, 0U) << engine->name;
  }
}

TEST(Client, TellsOfWrongReplies) {
  Server server(prefix_protocol("? "));
  server.start();
  Client client(prefix_protocol(), {.connect = server.address(), .load = {.connections = 2, .messages = 10}});
  const ClientResult result = client.run();
  EXPECT_FALSE(result.clean());
  EXPECT_EQ(result.messages_verified, 0U);
  EXPECT_EQ(result.connections_failed, 2U);
  EXPECT_EQ(result.failures[static_cast<std::size_t>(Stage::verify)], 2U);
  ASSERT_EQ(result.complaints.size(), 1U);
}

TEST(Client, TellsOfAPeerThatIsNotThere) {
  std::string address;
  {
    const Server server(prefix_protocol());
    address = server.address();
  }
  Client client(prefix_protocol(), {.connect = address, .load = {.connections = 2, .messages = 1}});
  const ClientResult result = client.run();
  EXPECT_EQ(result.connections_opened, 0U);
  EXPECT_EQ(result.connections_failed, 2U);
  EXPECT_EQ(result.failures[static_cast<std::size_t>(Stage::connect)], 2U);
  ASSERT_FALSE(result.complaints.empty());
  EXPECT_EQ(result.complaints[0], "connect " + address + ": Connection refused");
}

TEST(Client, IsInterruptedByTheToken) {
  Server server(prefix_protocol());
  server.start();
  Client client(prefix_protocol(),
                {.connect = server.address(), .load = {.duration = std::chrono::hours(1)}});
  ClientResult result;
  std::jthread running([&](const std::stop_token& stop) { result = client.run(stop); });
  while (server.statistics().connections_opened == 0) std::this_thread::yield();
  running.request_stop();
  running.join();
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.messages_failed, 0U);
}

// A client side of a program's own, which knows nothing of loads: says hello, and ends after the answer.
class Greeter : public Session {
 public:
  explicit Greeter(std::atomic<std::uint64_t>& greeted) : greeted_(greeted) { outbox_.append("hello\n"); }
  std::size_t on_bytes(Bytes chunk, Time /*now*/) override {
    heard_ += as_text(chunk);
    if (heard_ == "> hello\n") ++greeted_, finished_ = true;
    return chunk.size();
  }
  void on_peer_finished(Time /*now*/) override { finished_ = true; }
  void on_drain(Time /*now*/) override { finished_ = true; }
  std::size_t output(std::span<Segment> into) const override { return outbox_.segments(into); }
  bool finished() const override { return finished_; }
  void consumed(std::size_t n) override { outbox_.consumed(n); }
  void released(std::size_t n) override { outbox_.released(n); }

 private:
  std::atomic<std::uint64_t>& greeted_;
  Outbox outbox_;
  std::string heard_;
  bool finished_ = false;
};

class Greeters : public Service {
 public:
  std::unique_ptr<Session> open(const ConnectionInfo& /*info*/) override {
    return std::make_unique<Greeter>(greeted_);
  }
  std::vector<ResultGroup> results() const override {
    return {{"greetings", {{"answered", greeted_.load()}}}};
  }

 private:
  std::atomic<std::uint64_t> greeted_{0};
};

TEST(Client, LetsSessionsOfAProgramsOwnTalk) {
  Server server(prefix_protocol());
  server.start();
  Protocol greeting = prefix_protocol();
  greeting.make_client = [](const Parameters&, LoadRun&) { return std::make_unique<Greeters>(); };
  Client client(greeting, {.connect = server.address(), .load = {.connections = 4}});
  const ClientResult result = client.run();
  EXPECT_TRUE(result.clean());
  EXPECT_EQ(result.connections_opened, 4U);
  ASSERT_EQ(result.groups.size(), 1U);
  EXPECT_EQ(result.groups[0].figures[0].second, ResultGroup::Figure(std::uint64_t{4}));
}

TEST(Client, CountsTheFailuresOfSessionsOfAProgramsOwn) {
  std::string address;
  {
    const Server server(prefix_protocol());
    address = server.address();
  }
  Protocol greeting = prefix_protocol();
  greeting.make_client = [](const Parameters&, LoadRun&) { return std::make_unique<Greeters>(); };
  const ClientResult result = Client(greeting, {.connect = address}).run();
  EXPECT_FALSE(result.clean());
  EXPECT_EQ(result.failures[static_cast<std::size_t>(Stage::connect)], 1U);
}

}  // namespace
}  // namespace joust
