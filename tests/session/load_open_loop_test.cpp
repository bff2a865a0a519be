// SPDX-License-Identifier: MIT
//
// A load with a rate (LoadPlan::rate_per_s): no reply changes when requests are due.
#include <gtest/gtest.h>

#include "load/result.hpp"
#include "session/by_hand.hpp"

namespace joust {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::heard;

constexpr Time kOpening = Time(seconds(3000));

// Deadlines are met; replies are given by hand. Arrivals are constant, so that their times are known.
class OpenLoop : public test::EchoLoad {
 protected:
  void begin(LoadPlan plan) {
    plan.arrivals = LoadPlan::Arrivals::constant;
    EchoLoad::begin(plan, kOpening);
    for (const auto& session : sessions_) session->on_deadline(kOpening);
  }

  // Meets every deadline of the session up to this time.
  static void pass(Session& session, Duration until) {
    for (int i = 0; i < 1000; ++i) {
      const auto due = session.deadline();
      if (!due || *due > kOpening + until) return;
      session.on_deadline(std::max(*due, kOpening));
    }
    FAIL() << "deadlines without end";
  }
  // The server answers, one at a time and at once, all that is due until then.
  static void answer_all(Session& session, Duration at) {
    session.on_deadline(kOpening + at);
    for (std::string asked = heard(session); !asked.empty(); asked = heard(session))
      ASSERT_EQ(session.on_bytes(as_bytes(asked), kOpening + at), asked.size());
  }

  LoadResult result(Duration ended) { return conclude(*run_, {}, false, kOpening + ended); }
  const Recorder& recorder() const { return run_->recorder(); }
  static bool balance(const LoadResult& load) {
    return load.messages.sent == load.messages.verified + load.messages.failed + load.messages.in_flight;
  }
};

TEST_F(OpenLoop, ConnectionsAreSpreadOverTheInterval) {
  begin({.connections = 4, .rate_per_s = 100});
  EXPECT_FALSE(heard(*sessions_[0]).empty());
  for (int i = 1; i < 4; ++i) {
    EXPECT_EQ(heard(*sessions_[static_cast<std::size_t>(i)]), "");
    EXPECT_EQ(sessions_[static_cast<std::size_t>(i)]->deadline(), kOpening + milliseconds(10 * i));
  }
}

TEST_F(OpenLoop, TogetherAllSendInTheSameInstant) {
  begin({.connections = 4, .rate_per_s = 100, .phase = LoadPlan::Phase::together});
  for (const auto& session : sessions_) EXPECT_FALSE(heard(*session).empty());
  pass(first(), milliseconds(39));
  EXPECT_EQ(heard(first()), "");
}

// A closed loop would count one slow reply.
TEST_F(OpenLoop, AServerThatStopsDelaysEveryRequestThatIsDueMeanwhile) {
  begin({.duration = seconds(1), .rate_per_s = 100});
  for (int i = 0; i < 20; ++i) answer_all(first(), milliseconds(10 * i));
  pass(first(), milliseconds(699));  // one request is under way, and the others wait for its slot
  for (int i = 70; i < 100; ++i) answer_all(first(), milliseconds(10 * i));
  first().on_deadline(kOpening + seconds(1));
  const LoadResult load = result(seconds(1));
  EXPECT_EQ(load.messages.sent, 100U);
  EXPECT_EQ(load.messages.verified, 100U);
  EXPECT_EQ(load.due(), 100U);
  // Due at 200, 210 .. 690 ms, answered at 700 ms.
  std::uint64_t late = 0;
  for (const Distribution::Bucket& bucket : load.latency_ns.buckets())
    if (bucket.low_ns > 9'000'000) late += bucket.count;
  EXPECT_EQ(late, 50U);
  EXPECT_EQ(load.latency_ns.max(), 500'000'000U);
  EXPECT_EQ(load.uncorrected_latency().count(), 100U);
  EXPECT_LT(load.uncorrected_latency().value_at(0.98), 1000U) << "what the stop hides without the schedule";
  EXPECT_EQ(load.uncorrected_latency().max(), 500'000'000U) << "of the one request that was under way";
  EXPECT_LT(load.send_lateness().max(), 1000U) << "it was the server that was late";
}

TEST_F(OpenLoop, TheGeneratorsOwnLatenessIsKnown) {
  begin({.duration = seconds(1), .rate_per_s = 100});
  answer_all(first(), {});
  answer_all(first(), milliseconds(14));
  EXPECT_EQ(recorder().send_lateness().max(), 4'000'000U);
  EXPECT_EQ(recorder().latencies().max(), 4'000'000U) << "it is part of the latency";
}

// The server is half as fast as it should be.
TEST_F(OpenLoop, WhatIsDueInTheWindowCountsThoughItIsAnsweredLater) {
  begin({.duration = milliseconds(200), .rate_per_s = 100});
  for (int i = 0; i < 10; ++i) {
    test::answer(first(), kOpening + milliseconds(20 * (i + 1)));
    pass(first(), milliseconds(20 * (i + 1)));
  }
  EXPECT_EQ(recorder().counts().unsent, 10U);
  for (int i = 10; i < 20; ++i) {
    EXPECT_FALSE(first().finished());
    test::answer(first(), kOpening + milliseconds(20 * (i + 1)));
  }
  EXPECT_TRUE(first().finished());
  const LoadResult load = result(milliseconds(400));
  EXPECT_EQ(load.messages.verified, 20U);
  EXPECT_EQ(load.messages.unsent, 10U);
  EXPECT_EQ(load.due(), 20U);
  EXPECT_EQ(load.latency_ns.max(), 210'000'000U);
  EXPECT_DOUBLE_EQ(load.duration_s, 0.4) << "until the last reply";
  EXPECT_DOUBLE_EQ(load.throughput_per_s, 50);
  EXPECT_TRUE(balance(load));
}

TEST_F(OpenLoop, AServerThatStaysTooSlowIsNotWaitedFor) {
  begin({.duration = milliseconds(200), .rate_per_s = 100, .request_timeout = milliseconds(100)});
  for (int i = 0; i < 6; ++i) {
    EXPECT_FALSE(first().finished());
    test::answer(first(), kOpening + milliseconds(60 * (i + 1)));
    pass(first(), milliseconds(60 * (i + 1)));
  }
  EXPECT_TRUE(first().finished());
  const LoadResult load = result(milliseconds(360));
  EXPECT_EQ(load.messages.verified, 5U);
  EXPECT_EQ(load.never_sent(), 14U);
  EXPECT_EQ(load.due(), 20U);
  EXPECT_TRUE(balance(load)) << load.messages.in_flight;
}

TEST_F(OpenLoop, RequestsOfTheWarmUpDoNotCount) {
  begin({.duration = milliseconds(100), .warmup = milliseconds(50), .rate_per_s = 100});
  pass(first(), milliseconds(79));  // the server has stopped
  for (int i = 8; i <= 15; ++i) answer_all(first(), milliseconds(10 * i));
  const LoadResult load = result(milliseconds(150));
  EXPECT_EQ(load.messages.verified, 10U);
  EXPECT_EQ(load.latency_ns.max(), 30'000'000U) << "due when the window opened";
  EXPECT_EQ(load.messages.unsent, 0U);
  EXPECT_TRUE(balance(load));
  EXPECT_TRUE(first().finished());
}

TEST_F(OpenLoop, ACountOfMessagesKeepsTheSchedule) {
  begin({.messages = 3, .warmup = milliseconds(15), .rate_per_s = 100});
  answer_all(first(), {});
  answer_all(first(), milliseconds(10));
  answer_all(first(), milliseconds(15));  // the connection has settled, and the window opens
  for (int i = 1; i < 3; ++i) {
    pass(first(), milliseconds(15 + 10 * i));
    test::answer(first(), kOpening + milliseconds(18 + 10 * i));
  }
  EXPECT_TRUE(first().finished());
  EXPECT_EQ(result(milliseconds(40)).messages.verified, 3U);
  EXPECT_EQ(result(milliseconds(40)).latency_ns.max(), 3'000'000U);
}

// The second connection still has messages to send.
TEST_F(OpenLoop, AConnectionThatFailsAfterItsMessagesEndsNoWindow) {
  begin({.connections = 2, .messages = 1, .rate_per_s = 100});
  answer_all(first(), {});
  ASSERT_TRUE(first().finished());
  first().on_bytes(as_bytes("?"), kOpening);
  EXPECT_EQ(run_->connections_failed(), 1U);
  EXPECT_FALSE(run_->closes().has_value());
  answer_all(*sessions_[1], milliseconds(10));
  EXPECT_EQ(run_->closes(), kOpening + milliseconds(10));
  EXPECT_EQ(result(milliseconds(10)).messages.verified, 2U);
}

TEST_F(OpenLoop, AStopCutsTheWindowOffAndTheBooksBalance) {
  begin({.duration = seconds(1), .rate_per_s = 100, .depth = 2});
  answer_all(first(), {});
  pass(first(), milliseconds(45));  // due: 10, 20, 30, 40; two of them were sent
  first().on_drain(kOpening + milliseconds(45));
  const LoadResult load = result(milliseconds(45));
  EXPECT_EQ(load.messages.sent, 3U);
  EXPECT_EQ(load.messages.in_flight, 2U);
  EXPECT_EQ(load.never_sent(), 2U);
  EXPECT_EQ(load.oldest_open_ns, milliseconds(35));
  EXPECT_TRUE(balance(load));
}

// Nobody is asked any more, and what was due is not forgotten.
TEST_F(OpenLoop, AFailedConnectionOwesItsShareOfTheSchedule) {
  begin({.duration = seconds(1), .rate_per_s = 100, .depth = 4, .request_timeout = milliseconds(100)});
  pass(first(), milliseconds(200));
  EXPECT_TRUE(first().finished());
  const LoadResult load = result(seconds(1));
  EXPECT_EQ(load.messages.sent, 4U);
  EXPECT_EQ(load.messages.failed, 4U);
  EXPECT_EQ(load.due(), 100U);
  EXPECT_EQ(load.messages.unsent, 96U);
  EXPECT_TRUE(balance(load));
}

TEST_F(OpenLoop, WhatWasDueInTheWarmUpIsNotOwed) {
  begin({.duration = milliseconds(100),
         .warmup = milliseconds(50),
         .rate_per_s = 100,
         .request_timeout = milliseconds(60)});
  pass(first(), milliseconds(200));  // the server has stopped: the connection fails at 60 ms
  const LoadResult load = result(milliseconds(150));
  EXPECT_EQ(load.messages.sent, 0U);
  EXPECT_EQ(load.due(), 10U);
  EXPECT_GE(load.messages.unsent, load.never_sent());
  EXPECT_TRUE(balance(load));
}

TEST_F(OpenLoop, TheFirstRequestOfABurstCanBeLateToo) {
  EchoLoad::begin({.duration = seconds(1), .rate_per_s = 100, .phase = LoadPlan::Phase::together}, kOpening);
  EXPECT_EQ(heard(first()), "");
  first().on_deadline(kOpening + milliseconds(7));
  EXPECT_NE(heard(first()), "");
  EXPECT_EQ(recorder().send_lateness().max(), 7'000'000U);
}

// The interval of a connection is longer than a turn: each connection still gets its share.
TEST_F(OpenLoop, TheScheduleGoesOnFromTurnToTurn) {
  EchoLoad::begin(
      {.connections = 4, .rate_per_s = 100, .arrivals = LoadPlan::Arrivals::constant, .turns = true},
      kOpening);
  std::vector<int> asked(4);
  Duration at{};
  for (int turn = 0; turn < 16; ++turn, at += seconds(7)) {
    run_->begin_turn(kOpening + at, milliseconds(15), milliseconds(3));
    for (Duration now = at; now <= at + milliseconds(15); now += milliseconds(1))
      for (std::size_t i = 0; i < 4; ++i) {
        if (const auto due = sessions_[i]->deadline(); !due || *due > kOpening + now) continue;
        sessions_[i]->on_deadline(kOpening + now);
        if (const std::string request = heard(*sessions_[i]); !request.empty()) {
          ++asked[i];
          sessions_[i]->on_bytes(as_bytes(request), kOpening + now);
        }
      }
    EXPECT_FALSE(run_->turn_under_way()) << "turn " << turn;
  }
  EXPECT_EQ(asked, std::vector<int>(4, 6)) << "16 turns of 15 ms, 40 ms from one message to the next";
  EXPECT_EQ(recorder().latencies().max(), 1U);
}

}  // namespace
}  // namespace joust
