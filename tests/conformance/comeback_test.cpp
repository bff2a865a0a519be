// SPDX-License-Identifier: MIT
//
// The dialling role: a load goes on when its server dies and comes back, if its plan says so.
#include <gtest/gtest.h>

#include <thread>

#include "conformance/mortal_server.hpp"
#include "conformance/running.hpp"
#include "load/result.hpp"
#include "protocols/table.hpp"

namespace joust::conformance {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kConnections = 20;
constexpr auto kAlways = LoadPlan::Reconnect::always;
constexpr Duration kEndless = std::chrono::hours(1);

class LoadAgain : public EngineTest {
 protected:
  // The run of one load of echo.
  struct Running {
    Running(const Variant& variant, LoadPlan plan, const Endpoint& to, const Limits& limits = brisk())
        : run(prepared(plan)),
          client(made_client(run)),
          dialling(variant, *client, {to}, plan.connections, limits) {}

    // The plan's pauses are short, as tests want them.
    static LoadPlan prepared(LoadPlan& plan) {
      plan.connections = kConnections;
      plan.backoff_least = milliseconds(2);
      plan.backoff_most = milliseconds(20);
      return plan;
    }
    static std::unique_ptr<Service> made_client(LoadRun& run) {
      run.begin(Clock::now());
      return builtin_protocols().front().make_client({.payload = 32}, run);
    }
    void expect_balance() const {
      const Recorder::Counts counts = run.recorder().counts();
      EXPECT_EQ(counts.sent, counts.verified + counts.failed + counts.in_flight);
      EXPECT_EQ(counts.verified, run.recorder().latencies().count());
    }

    LoadRun run;
    std::unique_ptr<Service> client;
    Dialling dialling;
  };

  template <typename Condition>
  static void await(Condition&& condition, const char* what) {
    const Time give_up = Clock::now() + kPatience;
    while (!condition()) {
      ASSERT_LT(Clock::now(), give_up) << what;
      std::this_thread::sleep_for(milliseconds(1));
    }
  }
  // The server has sent some more replies.
  static void await_replies(const MortalServer& server) {
    const std::uint64_t before = server.bytes();
    await([&] { return server.bytes() > before + 100 * 32; }, "the server answers nobody");
  }
};
JOUST_EVERY_ENGINE_EACH_CHOICE(LoadAgain, Role::dial);

class LoadAgainAsItComes : public LoadAgain {};
JOUST_EVERY_ENGINE_AS_IT_COMES(LoadAgainAsItComes, Role::dial);

TEST_P(LoadAgain, AfterTheServerHasDied) {
  checks(Duty::dialling);
  MortalServer server;
  Running load(GetParam(), {.duration = kEndless, .reconnect = kAlways}, server.endpoint());
  await_replies(server);
  for (std::uint64_t times = 1; times <= 2; ++times) {
    server.die();
    await([&] { return load.run.failures(Stage::connect) > 0; }, "nobody dials while the server is away");
    server.live();
    await([&] { return load.run.reconnects() == times * kConnections; }, "not everyone comes back");
    await_replies(server);
  }
  load.dialling.run().stop().request();
  load.dialling.run().wait();
  load.expect_balance();
  const Recorder::Counts counts = load.run.recorder().counts();
  EXPECT_GT(counts.failed, 0U);
  EXPECT_LE(counts.failed, 3 * kConnections);
  EXPECT_EQ(counts.answered, kConnections);
  EXPECT_EQ(load.run.connections_failed(), 0U);
  EXPECT_EQ(load.run.failures(Stage::verify) + load.run.failures(Stage::local), 0U);
  // One that dials again while the server dies may still be taken by its listener, and is lost once more.
  const std::uint64_t lost = load.run.failures(Stage::receive) + load.run.failures(Stage::send);
  EXPECT_GE(lost, 2 * kConnections);
  EXPECT_LE(lost, 3 * kConnections);
}

TEST_P(LoadAgainAsItComes, AndSendsItsNumberOfMessages) {
  MortalServer server;
  Running load(GetParam(), {.messages = 2000, .duration = kEndless, .reconnect = kAlways}, server.endpoint());
  await_replies(server);
  server.die();
  server.live();
  load.dialling.run().wait();
  load.expect_balance();
  EXPECT_EQ(load.run.recorder().counts().sent, 2000 * kConnections);
  EXPECT_EQ(load.run.recorder().counts().in_flight, 0U);
  EXPECT_EQ(load.run.reconnects(), kConnections);
}

TEST_P(LoadAgainAsItComes, InAnOpenLoop) {
  MortalServer server;
  Running load(GetParam(), {.duration = std::chrono::seconds(2), .rate_per_s = 2000, .reconnect = kAlways},
               server.endpoint());
  await_replies(server);
  server.die();
  await([&] { return load.run.failures(Stage::connect) > 0; }, "nobody dials while the server is away");
  server.live();
  load.dialling.run().wait();
  load.expect_balance();
  const LoadResult result = conclude(load.run, {}, false, Clock::now());
  EXPECT_NEAR(static_cast<double>(result.due()), 4000, kConnections);
}

TEST_P(LoadAgain, NotIfThePlanSaysNever) {
  checks(Duty::dialling);
  MortalServer server;
  Running load(GetParam(), {.duration = kEndless}, server.endpoint());
  await_replies(server);
  server.die();
  load.dialling.run().wait();
  load.expect_balance();
  EXPECT_EQ(load.run.connections_failed(), kConnections);
  EXPECT_EQ(load.run.reconnects(), 0U);
  EXPECT_EQ(load.run.failures(Stage::connect), 0U);
}

TEST_P(LoadAgainAsItComes, UntilTheWindowEnds) {
  checks(Duty::dialling);
  // On a busy machine a window may end before its server has died: then a longer one is tried.
  for (Duration window = milliseconds(400);; window *= 4) {
    ASSERT_LT(window, kPatience) << "nobody dials while the server is away";
    MortalServer server;
    Running load(GetParam(), {.duration = window, .reconnect = kAlways}, server.endpoint());
    await([&] { return server.bytes() > 0; }, "the server answers nobody");
    server.die();
    load.dialling.run().wait();
    load.expect_balance();
    if (load.run.failures(Stage::connect) < kConnections) continue;
    EXPECT_EQ(load.run.connections_failed(), kConnections);
    EXPECT_GE(conclude(load.run, {}, false, Clock::now()).duration_s,
              std::chrono::duration<double>(window).count());
    return;
  }
}

TEST_P(LoadAgainAsItComes, FromTheBeginningOn) {
  MortalServer server;
  server.die();
  Running load(GetParam(), {.messages = 10, .duration = kEndless, .reconnect = kAlways}, server.endpoint());
  await([&] { return load.run.failures(Stage::connect) > 3 * kConnections; }, "nobody dials again");
  server.live();
  load.dialling.run().wait();
  EXPECT_EQ(load.run.recorder().counts().verified, 10 * kConnections);
  EXPECT_EQ(load.run.connections_failed(), 0U);
}

TEST_P(LoadAgainAsItComes, InVainForAsLongAsItMay) {
  MortalServer server;
  server.die();
  const Time begin = Clock::now();
  const milliseconds as_long(500);  // a sanitized build may need 100 ms for its first attempts alone
  Running load(GetParam(), {.messages = 10, .reconnect = kAlways, .reconnect_for = as_long},
               server.endpoint());
  load.dialling.run().wait();
  EXPECT_GE(Clock::now() - begin, as_long);
  EXPECT_EQ(load.run.connections_failed(), kConnections);
  EXPECT_GT(load.run.failures(Stage::connect), kConnections);
}

TEST_P(LoadAgain, StoppedInAPause) {
  checks(Duty::stop);
  MortalServer server;
  Running load(GetParam(), {.duration = kEndless, .reconnect = kAlways}, server.endpoint());
  await_replies(server);
  server.die();
  await([&] { return load.run.failures(Stage::connect) > 0; }, "nobody dials while the server is away");
  load.dialling.run().stop().request();
  load.dialling.run().wait();
  load.expect_balance();
  EXPECT_EQ(load.run.connections_failed(), kConnections);
}

}  // namespace
}  // namespace joust::conformance
