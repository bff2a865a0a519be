// SPDX-License-Identifier: MIT
//
// Loads of requests and replies over links that lose, repeat and reorder messages.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>
#include <utility>

#include "load/result.hpp"
#include "message/lossy_network.hpp"
#include "session/handler_session.hpp"

namespace joust {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr LossyLink::Faults kBad{.lost = 200, .duplicated = 100, .reordered = 200};

// The replies as they arrive at clients, by connection and number.
class Arrived {
 public:
  explicit Arrived(LossyNetwork& network) {
    network.observe([this](std::size_t client, Bytes message) {
      ++count_;
      different_.emplace(client, without_number(message)->number);
    });
  }
  std::uint64_t different() const { return different_.size(); }
  std::uint64_t again() const { return count_ - different_.size(); }

 private:
  std::uint64_t count_ = 0;
  std::set<std::pair<std::size_t, std::uint64_t>> different_;
};

void expect_balance(const Recorder::Counts& counts) {
  EXPECT_EQ(counts.sent, counts.verified + counts.failed + counts.lost + counts.in_flight);
}

TEST(LoadOverLossyLinks, CountsExactlyWhatWasLostAndWhatCameAgain) {
  for (const std::string_view protocol : {"echo", "uppercase"}) {
    for (const std::uint64_t depth : {1U, 4U, 50U}) {
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        SCOPED_TRACE(fmt::format("{} depth {} seed {}", protocol, depth, seed));
        LossyNetwork network({.protocol = protocol,
                              .plan = {.connections = 3, .messages = 200, .depth = depth},
                              .faults = kBad,
                              .seed = seed});
        const Arrived arrived(network);
        ASSERT_TRUE(network.pass(minutes(60)));
        const Recorder::Counts counts = network.counts();
        EXPECT_EQ(counts.sent, 600U);
        EXPECT_EQ(counts.verified, arrived.different());
        EXPECT_EQ(counts.lost, 600 - arrived.different());
        EXPECT_EQ(counts.duplicated, arrived.again());
        EXPECT_GT(counts.lost, 100U);
        EXPECT_GT(counts.duplicated, 20U);
        EXPECT_EQ(counts.late, 0U);
        EXPECT_EQ(counts.failed + counts.in_flight, 0U);
        EXPECT_EQ(network.run.connections_failed(), 0U);
        EXPECT_EQ(network.run.recorder().latencies().count(), counts.verified);
      }
    }
  }
}

TEST(LoadOverLossyLinks, LosesNothingOverGoodOnes) {
  for (const Delivery& delivery :
       {kLossyDelivery, Delivery{.kind = Delivery::Kind::message, .largest_message = 1400}}) {
    for (const std::string_view protocol : {"echo", "uppercase", "broadcast", "work"}) {
      SCOPED_TRACE(protocol);
      LossyNetwork network({.protocol = protocol,
                            .plan = {.connections = 3, .messages = 50, .depth = 4},
                            .faults = {.delay = milliseconds(1)},
                            .delivery = delivery,
                            .payload = 1000});
      ASSERT_TRUE(network.pass(minutes(1)));
      EXPECT_EQ(network.counts().verified, 150U);
      EXPECT_EQ(network.counts().lost + network.counts().late + network.counts().duplicated, 0U);
      EXPECT_EQ(network.run.connections_failed(), 0U);
    }
  }
}

TEST(LoadOverLossyLinks, NumbersMessagesOnlyWhereTheyMayBeLost) {
  for (const bool lossy : {false, true}) {
    Delivery delivery = kLossyDelivery;
    delivery.lossy = lossy;
    LossyNetwork network({.plan = {.messages = 10, .depth = 3}, .delivery = delivery});
    std::size_t messages = 0;
    network.observe([&](std::size_t, Bytes message) {
      EXPECT_EQ(message.size(), lossy ? 40U : 32U);
      ++messages;
    });
    ASSERT_TRUE(network.pass(seconds(1)));
    EXPECT_EQ(messages, 10U);
    EXPECT_EQ(network.counts().bytes_sent, 10U * (lossy ? 40 : 32));
    EXPECT_EQ(network.counts().bytes_received, 10U * (lossy ? 40 : 32));
  }
}

TEST(LoadOverLossyLinks, AReplyAfterTheTimeoutIsLate) {
  LossyNetwork network({.plan = {.messages = 5}, .faults = {.delay = milliseconds(600)}});
  ASSERT_TRUE(network.pass(minutes(1)));
  EXPECT_EQ(network.counts().lost, 5U);
  EXPECT_EQ(network.counts().late, 4U) << "the load has ended before the last one comes";
  EXPECT_EQ(network.counts().verified, 0U);
  EXPECT_EQ(network.run.connections_failed(), 0U);
}

TEST(LoadOverLossyLinks, TheRequestTimeoutIsChosenOrOneSecond) {
  EXPECT_EQ(LoadRun({}).plan().request_timeout, seconds(5));
  EXPECT_EQ(LoadRun({}, true).plan().request_timeout, seconds(1));
  LossyNetwork network(
      {.plan = {.messages = 1, .request_timeout = milliseconds(70)}, .faults = {.lost = 1000}});
  EXPECT_FALSE(network.pass(milliseconds(69)));
  EXPECT_TRUE(network.pass(milliseconds(1)));
  EXPECT_EQ(network.counts().lost, 1U);
}

// The reply to a request that is in flight when the window closes may be lost: that is known only later.
TEST(LoadOverLossyLinks, WhatWasInFlightAtTheEndMayTurnOutLost) {
  LossyNetwork network(
      {.plan = {.duration = milliseconds(500), .depth = 3, .request_timeout = milliseconds(200)},
       .faults = {.delay = milliseconds(10)}});
  network.pass(milliseconds(455));
  network.change({.lost = 1000});
  ASSERT_TRUE(network.pass(seconds(1)));
  EXPECT_EQ(network.counts().lost, 3U);
  EXPECT_EQ(network.counts().in_flight, 0U);
  expect_balance(network.counts());
}

TEST(LoadOverLossyLinks, ALoadWithoutAServerEndsAndIsNoSuccess) {
  LossyNetwork network({.plan = {.connections = 2, .duration = seconds(3)}, .faults = {.lost = 1000}});
  ASSERT_TRUE(network.pass(seconds(5)));
  EXPECT_EQ(network.counts().never_answered, 2U);
  EXPECT_EQ(network.run.connections_failed(), 0U);
  expect_balance(network.counts());
  EXPECT_FALSE(conclude(network.run, {}, false, network.now()).clean());
}

TEST(LoadOverLossyLinks, AnOpenLoopAccountsForEveryRequestThatWasDue) {
  LossyNetwork network({.plan = {.connections = 2,
                                 .duration = seconds(2),
                                 .rate_per_s = 100,
                                 .arrivals = LoadPlan::Arrivals::constant,
                                 .depth = 3},
                        .faults = kBad});
  ASSERT_TRUE(network.pass(minutes(1)));
  const Recorder::Counts counts = network.counts();
  EXPECT_EQ(counts.sent + counts.never_sent, 200U);
  EXPECT_GT(counts.lost, 10U);
  expect_balance(counts);
}

TEST(LoadOverLossyLinks, ATurnEndsAlthoughMessagesAreLost) {
  LossyNetwork network({.plan = {.connections = 2, .depth = 2, .turns = true}, .faults = kBad});
  std::size_t rested = 0;
  network.run.observe(
      [&](LoadRun::Milestone milestone) { rested += milestone == LoadRun::Milestone::rested; });
  network.pass(milliseconds(1));
  for (std::size_t turn = 1; turn <= 4; ++turn) {
    network.run.begin_turn(network.now(), milliseconds(20), milliseconds(5));
    network.pass(seconds(5));
    EXPECT_EQ(rested, turn);
  }
  EXPECT_GT(network.counts().lost, 0U);
  expect_balance(network.counts());
}

TEST(LoadOverLossyLinks, AStopEndsIt) {
  LossyNetwork network({.plan = {.duration = seconds(100), .depth = 5}, .faults = {.lost = 1000}});
  network.pass(milliseconds(500));
  network.client(0).on_drain(network.now());
  EXPECT_TRUE(network.pass(seconds(2))) << "after the request timeout";
  expect_balance(network.counts());
}

// Answers after a while, so that several replies become due at once.
class DelayingHandler : public Handler {
 public:
  bool on_message(Bytes message, Writer& replies) override {
    replies.send(message);
    return true;
  }
  Duration delay() const override { return milliseconds(5); }
};

TEST(LoadOverLossyLinks, RepliesThatAreSentLaterAreMessagesToo) {
  for (const bool lossy : {false, true}) {
    Delivery delivery = kLossyDelivery;
    delivery.lossy = lossy;
    LossyNetwork network({.plan = {.messages = 60, .depth = 20}, .delivery = delivery, .server = [] {
                            return std::make_unique<HandlerService>(
                                Length4{}, [] { return std::make_unique<DelayingHandler>(); });
                          }});
    ASSERT_TRUE(network.pass(milliseconds(20)));
    EXPECT_EQ(network.counts().verified, 60U);
  }
}

class WrongHandler : public Handler {
 public:
  bool on_message(Bytes message, Writer& replies) override {
    std::string reply(as_text(message));
    reply.back() ^= 1;
    replies.send(reply);
    return true;
  }
};

TEST(LoadOverLossyLinks, AWrongReplyIsAFailureAllTheSame) {
  LossyNetwork network({.plan = {.messages = 10, .depth = 2}, .server = [] {
                          return std::make_unique<HandlerService>(
                              Raw{}, [] { return std::make_unique<WrongHandler>(); });
                        }});
  ASSERT_TRUE(network.pass(seconds(10)));
  EXPECT_EQ(network.run.failures(Stage::verify), 1U);
  EXPECT_EQ(network.counts().failed, 2U);
  expect_balance(network.counts());
}

TEST(LoadOverLossyLinks, WhatIsNoReplyIsAFailure) {
  const std::string number(kNumberBytes - 1, '\0');
  for (const auto& [message, why] :
       {std::pair(std::string("short"),
                  "verify: request 0 of connection 0: a reply has no number; 5 bytes came: \"short\""),
        std::pair(number + '\7' + "text",
                  "verify: request 7 of connection 0: a reply to no request; 4 bytes came: \"text\"")}) {
    LossyNetwork network({.plan = {.messages = 10}, .faults = {.lost = 1000}});
    network.pass(milliseconds(1));
    network.client(0).on_bytes(as_bytes(message), network.now());
    EXPECT_TRUE(network.client(0).finished());
    EXPECT_EQ(network.run.complaints(), std::vector<std::string>{why});
  }
}

TEST(LoadOverLossyLinks, AMessageThatDoesNotFitIsAFailureOfThisSide) {
  LossyNetwork network({.plan = {.connections = 2, .messages = 10}, .payload = 1500});
  ASSERT_TRUE(network.pass(seconds(10)));
  EXPECT_EQ(network.run.failures(Stage::local), 2U);
  EXPECT_TRUE(network.client(0).gives_up());
}

// Bits that flip on the way are found by the checksums of a transport. Here they reach the sessions.
TEST(LoadOverLossyLinks, GarbageEndsNothingButItsConnection) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    LossyNetwork network({.plan = {.connections = 4, .messages = 100, .depth = 3},
                          .faults = {.lost = 50, .duplicated = 50, .truncated = 5, .flipped = 5},
                          .seed = seed});
    ASSERT_TRUE(network.pass(minutes(10)));
    expect_balance(network.counts());
  }
}

RC_GTEST_PROP(LoadOverLossyLinks, EveryRequestHasOneFateWhateverHappens, ()) {
  const auto of_thousand = [](unsigned most) { return *rc::gen::inRange(0U, most + 1); };
  const LossyLink::Faults faults{.lost = of_thousand(500),
                                 .duplicated = of_thousand(300),
                                 .reordered = of_thousand(300),
                                 .delay = milliseconds(*rc::gen::inRange(1, 20)),
                                 .hold = milliseconds(*rc::gen::inRange(0, 300))};
  LoadPlan plan{.connections = *rc::gen::inRange<std::size_t>(1, 5),
                .duration = milliseconds(*rc::gen::inRange(1, 500)),
                .warmup = milliseconds(*rc::gen::inRange(0, 50)),
                .depth = *rc::gen::inRange<std::uint64_t>(1, 9),
                .request_timeout = milliseconds(*rc::gen::inRange(10, 200))};
  if (*rc::gen::arbitrary<bool>()) plan.messages = *rc::gen::inRange<std::uint64_t>(1, 50);
  switch (*rc::gen::inRange(0, 3)) {
    case 1:
      plan.rate_per_s = *rc::gen::inRange(10, 1000);
      break;
    case 2:
      plan.interval = milliseconds(*rc::gen::inRange(1, 50));
      break;
    default:
      break;
  }
  LossyNetwork network({.plan = plan, .faults = faults, .seed = *rc::gen::arbitrary<std::uint64_t>()});
  RC_ASSERT(network.pass(minutes(10)));
  const Recorder::Counts counts = network.counts();
  RC_ASSERT(counts.sent == counts.verified + counts.failed + counts.lost + counts.in_flight);
  RC_ASSERT(counts.failed == 0U);
  RC_ASSERT(network.run.connections_failed() == 0U);
  if (plan.messages && !plan.open_loop()) RC_ASSERT(counts.sent == plan.connections * *plan.messages);
}

}  // namespace
}  // namespace joust
