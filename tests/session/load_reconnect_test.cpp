// SPDX-License-Identifier: MIT
//
// A load whose lost connections come back (LoadPlan::Reconnect::always).
//
// A load in turns whose lost connections come back.
#include <gtest/gtest.h>

#include <algorithm>

#include "load/result.hpp"
#include "session/reconnecting.hpp"

namespace joust {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::answer;
using test::heard;
using test::kAlways;
using test::kBegin;
using test::kReset;

using LoadReconnect = test::ReconnectingLoad;

TEST_F(LoadReconnect, TheChannelsCountOfMessagesGoesOn) {
  begin({.messages = 10, .depth = 2});
  answer(first(), kBegin);  // two requests, and two more are sent
  heard(first());
  first().on_failure(kReset, kBegin);
  EXPECT_TRUE(first().finished());
  EXPECT_EQ(counts().failed, 2U);
  Session& next = reconnect(kBegin);
  for (int i = 0; i < 3; ++i) answer(next, kBegin + seconds(1));
  EXPECT_TRUE(next.finished());
  EXPECT_EQ(counts().sent, 10U);
  EXPECT_EQ(counts().verified, 8U);
  EXPECT_TRUE(balances());
  EXPECT_EQ(counts().answered, 1U) << "it is one connection of the load";
  EXPECT_EQ(run_->reconnects(), 1U);
  EXPECT_EQ(run_->connections_failed(), 0U);
  EXPECT_EQ(run_->failures(Stage::receive), 1U);
  EXPECT_EQ(reached_.back(), LoadRun::Milestone::closed);
  EXPECT_EQ(client_->redial(kBegin + seconds(1)), std::nullopt);
}

TEST_F(LoadReconnect, WhatWasNeverAnsweredIsNoLatency) {
  begin({.duration = seconds(1)});
  answer(first(), kBegin);
  heard(first());
  first().on_failure(kReset, kBegin + milliseconds(400));
  Session& next = reconnect(kBegin + milliseconds(400));
  answer(next, kBegin + milliseconds(600));
  EXPECT_EQ(counts().verified, 2U);
  EXPECT_EQ(counts().failed, 1U);
  EXPECT_LT(run_->recorder().latencies().max(), 200'000'000U) << "from the send to the reply";
  next.on_deadline(kBegin + seconds(1));
  EXPECT_TRUE(balances());
  EXPECT_EQ(counts().in_flight, 1U);
}

// It came back just before the window's end: that is no server which never answers.
TEST_F(LoadReconnect, AConnectionThatHadRepliesWasAnswered) {
  begin({.duration = seconds(1)});
  answer(first(), kBegin + milliseconds(1));
  first().on_failure(kReset, kBegin + milliseconds(800));
  Session& next = reconnect_at(kBegin + milliseconds(999));
  heard(next);
  next.on_deadline(kBegin + seconds(1));
  EXPECT_EQ(counts().in_flight, 1U);
  EXPECT_EQ(counts().never_answered, 0U);
}

TEST_F(LoadReconnect, AConnectionThatHadNoneIsCountedOnce) {
  begin({.duration = seconds(1)});
  heard(first());
  first().on_failure(kReset, kBegin + milliseconds(800));
  Session& next = reconnect_at(kBegin + milliseconds(999));
  heard(next);
  next.on_deadline(kBegin + seconds(1));
  EXPECT_EQ(counts().never_answered, 1U);
}

// The schedule does not stop for a server that is down.
TEST_F(LoadReconnect, AnOpenLoopSendsWhatWasDueMeanwhile) {
  begin({.duration = seconds(1), .rate_per_s = 100, .arrivals = LoadPlan::Arrivals::constant});
  const auto serve_until = [&](Session& session, Duration from, Duration to) {
    for (Duration at = from; at < to; at += milliseconds(10)) {
      session.on_deadline(kBegin + at);
      for (std::string asked = heard(session); !asked.empty(); asked = heard(session))
        session.on_bytes(as_bytes(asked), kBegin + at);
    }
  };
  serve_until(first(), {}, milliseconds(200));
  first().on_deadline(kBegin + milliseconds(200));
  heard(first());
  first().on_failure(kReset, kBegin + milliseconds(205));
  Session& next = reconnect(kBegin + milliseconds(205));
  serve_until(next, milliseconds(500), seconds(1));
  next.on_deadline(kBegin + seconds(1));
  const LoadResult load = conclude(*run_, {}, false, kBegin + seconds(1));
  EXPECT_EQ(load.due(), 100U);
  EXPECT_EQ(load.messages.sent, 100U);
  EXPECT_EQ(load.messages.failed, 1U);
  EXPECT_EQ(load.messages.verified, 99U);
  EXPECT_EQ(load.never_sent(), 0U);
  EXPECT_EQ(load.latency_ns.max(), 290'000'000U) << "due at 210 ms, answered at 500 ms";
}

TEST_F(LoadReconnect, AnIntervalIsNotMadeUpFor) {
  begin({.duration = seconds(1), .interval = milliseconds(100)});
  answer(first(), kBegin);
  first().on_failure(kReset, kBegin + milliseconds(50));
  Session& next = reconnect_at(kBegin + milliseconds(500));
  answer(next, kBegin + milliseconds(500));
  EXPECT_EQ(heard(next), "");
  EXPECT_EQ(next.deadline(), kBegin + milliseconds(600));
  EXPECT_EQ(counts().verified, 2U);
  EXPECT_TRUE(balances());
}

TEST_F(LoadReconnect, TheWindowEndsWithoutAConnection) {
  begin({.duration = seconds(1), .rate_per_s = 100, .arrivals = LoadPlan::Arrivals::constant});
  heard(first());
  first().on_failure(kReset, kBegin + milliseconds(5));
  auto next = client_->redial(kBegin + milliseconds(5));
  int dials = 0;
  while (next) {
    ASSERT_LT(++dials, 1000);
    const Time at = next->at;
    next = client_->redial(at);
    if (!next || next->at > at) continue;
    EXPECT_LE(next->until, kBegin + seconds(1));
    client_->not_opened({Stage::connect, ECONNREFUSED, "x"}, at);
    next = client_->redial(at);
  }
  EXPECT_EQ(reached_.back(), LoadRun::Milestone::closed);
  const LoadResult load = conclude(*run_, {}, false, kBegin + seconds(2));
  EXPECT_EQ(load.duration_s, 1) << "the time without a server counts";
  EXPECT_EQ(load.due(), 100U);
  EXPECT_EQ(load.messages.unsent, 99U);
  EXPECT_TRUE(balances());
  EXPECT_EQ(load.connections.failed, 1U);
  EXPECT_EQ(load.reconnects, 0U);
  EXPECT_GT(run_->failures(Stage::connect), 1U);
}

// A number of messages has no end in time, so a server that is gone ends it.
TEST_F(LoadReconnect, AConnectionWithoutAReplyIsGivenUp) {
  begin({.messages = 10, .reconnect_for = seconds(3)});
  answer(first(), kBegin);
  first().on_failure(kReset, kBegin + seconds(1));
  auto next = client_->redial(kBegin + seconds(1));
  Time last = kBegin;
  while (next) {
    last = next->at;
    next = client_->redial(last);
    if (!next || next->at > last) continue;
    client_->not_opened({Stage::connect, ECONNREFUSED, "x"}, last);
    next = client_->redial(last);
  }
  EXPECT_EQ(last, kBegin + seconds(4));
  EXPECT_EQ(reached_.back(), LoadRun::Milestone::closed);
  EXPECT_EQ(run_->connections_failed(), 1U);
  EXPECT_TRUE(balances());
}

// Otherwise a server that accepts and resets would keep a number of messages busy for ever.
TEST_F(LoadReconnect, ToBeOpenIsNoReply) {
  begin({.messages = 10, .reconnect_for = seconds(3)});
  Time now = kBegin;
  first().on_failure(kReset, now);
  int opened = 0;
  while (const auto next = client_->redial(now)) {
    ASSERT_LT(++opened, 1000);
    now = std::max(now, next->at);
    if (next->at < now || client_->redial(now)->at <= now) connect(now).on_failure(kReset, now);
  }
  EXPECT_EQ(now, kBegin + seconds(3));
  EXPECT_EQ(run_->connections_failed(), 1U);
}

TEST_F(LoadReconnect, TheStartWaitsForThoseThatHaveNotBeenOpen) {
  run_.emplace(LoadPlan{.connections = 2, .duration = seconds(1), .reconnect = kAlways});
  run_->begin(kBegin);
  client_ = builtin_protocols().front().make_client({.payload = 8}, *run_);
  Session& one = connect(kBegin);
  client_->not_opened({Stage::connect, ECONNREFUSED, "x"}, kBegin);
  EXPECT_FALSE(run_->start().has_value());
  one.on_failure(kReset, kBegin + milliseconds(1));  // at rest: nothing is lost with it
  EXPECT_FALSE(run_->start().has_value());
  reconnect_at(kBegin + milliseconds(200));
  reconnect_at(kBegin + milliseconds(200));
  ASSERT_TRUE(run_->start().has_value());
  wake(*run_->start());
  answer(*sessions_[1], *run_->start());
  answer(*sessions_[2], *run_->start());
  EXPECT_EQ(counts().verified, 2U);
  EXPECT_EQ(counts().failed, 0U);
}

TEST_F(LoadReconnect, NobodyIsThereAtAll) {
  run_.emplace(LoadPlan{.connections = 1, .duration = seconds(1), .reconnect = kAlways});
  run_->begin(kBegin);
  client_ = builtin_protocols().front().make_client({.payload = 8}, *run_);
  Time now = kBegin;
  client_->not_opened({Stage::connect, ECONNREFUSED, "x"}, now);
  while (const auto next = client_->redial(now)) {
    now = std::max(now, next->at);
    const auto order = client_->redial(now);
    if (order && order->at <= now) client_->not_opened({Stage::connect, ECONNREFUSED, "x"}, now);
  }
  EXPECT_EQ(now, kBegin + seconds(1)) << "as long as the load would have taken";
  EXPECT_EQ(run_->connections_failed(), 1U);
  EXPECT_GT(run_->failures(Stage::connect), 2U);
}

TEST_F(LoadReconnect, TheWarmUpOfACountWaitsForALostConnection) {
  begin({.connections = 2, .messages = 1, .warmup = milliseconds(10)});
  heard(*sessions_[1]);
  sessions_[1]->on_failure(kReset, kBegin);
  answer(*sessions_[0], kBegin + milliseconds(10));
  EXPECT_FALSE(run_->opens().has_value());
  Session& next = reconnect(kBegin);
  ASSERT_TRUE(run_->opens().has_value());
  for (Session* session : {&*sessions_[0], &next}) {
    session->on_deadline(kBegin + seconds(2));
    answer(*session, kBegin + seconds(2));
    EXPECT_TRUE(session->finished());
  }
  EXPECT_EQ(counts().sent, 2U);
  EXPECT_EQ(counts().verified, 2U);
}

TEST_F(LoadReconnect, AWrongReplyIsFinal) {
  begin({.duration = seconds(1)});
  heard(first());
  first().on_bytes(as_bytes("wrong..."), kBegin);
  EXPECT_EQ(run_->failures(Stage::verify), 1U);
  EXPECT_EQ(client_->redial(kBegin), std::nullopt);
}

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::answer;
using test::heard;
using test::kBegin;
using test::kReset;

class ReconnectInTurns : public test::ReconnectingLoad {
 protected:
  void SetUp() override { ReconnectingLoad::begin({.connections = 2, .turns = true}); }
  void turn(Time at) {
    run_->begin_turn(at, milliseconds(10), milliseconds(2));
    wake(at);
  }
  long rested() const { return std::ranges::count(reached_, LoadRun::Milestone::rested); }
};

using OpenLoopInTurns = test::ReconnectingLoad;

TEST_F(ReconnectInTurns, WhoIsLostCountsAsAtRest) {
  turn(kBegin);
  answer(*sessions_[0], kBegin + milliseconds(5));
  heard(*sessions_[1]);
  sessions_[1]->on_failure(kReset, kBegin + milliseconds(5));
  EXPECT_EQ(rested(), 0);
  answer(*sessions_[0], kBegin + milliseconds(11));
  EXPECT_EQ(rested(), 1);
  Session& next = reconnect(kBegin + milliseconds(11));
  EXPECT_EQ(heard(next), "") << "at rest";
  turn(kBegin + seconds(1));
  answer(*sessions_[0], kBegin + seconds(1) + milliseconds(11));
  EXPECT_EQ(rested(), 1) << "it takes part in the next turn";
  answer(next, kBegin + seconds(1) + milliseconds(11));
  EXPECT_EQ(rested(), 2);
  EXPECT_TRUE(balances());
  EXPECT_EQ(run_->reconnects(), 1U);
}

TEST_F(ReconnectInTurns, ATurnEndsWhileAllAreLost) {
  for (const auto& session : sessions_) session->on_failure(kReset, kBegin);
  run_->begin_turn(kBegin + milliseconds(1), milliseconds(10), milliseconds(2));
  EXPECT_EQ(rested(), 0);
  ASSERT_EQ(client_->redial(kBegin + milliseconds(2))->at, kBegin + milliseconds(11));
  EXPECT_EQ(rested(), 0) << "it takes its time";
  client_->redial(kBegin + milliseconds(11));
  EXPECT_EQ(rested(), 1);
  run_->begin_counted_turn(kBegin + milliseconds(12), 3, true);
  client_->redial(kBegin + milliseconds(12));
  EXPECT_EQ(rested(), 2);
}

TEST_F(ReconnectInTurns, WhoComesBackEndsATurnWithoutAnybody) {
  for (const auto& session : sessions_) session->on_failure(kReset, kBegin);
  run_->begin_turn(kBegin + milliseconds(1), milliseconds(10), milliseconds(2));
  Session& next = reconnect(kBegin + milliseconds(12));
  EXPECT_EQ(rested(), 1);
  EXPECT_EQ(heard(next), "");
  turn(kBegin + seconds(1));
  answer(next, kBegin + seconds(1) + milliseconds(11));
  EXPECT_EQ(rested(), 2);
}

TEST_F(OpenLoopInTurns, WhatALostConnectionOwesIsNeverSent) {
  begin({.connections = 1, .rate_per_s = 1000, .arrivals = LoadPlan::Arrivals::constant, .turns = true});
  run_->begin_turn(kBegin, milliseconds(10), milliseconds(2));
  wake(kBegin);
  wake(kBegin + milliseconds(11));  // the window is over, and the server has sent nothing
  const auto behind = counts().unsent;
  EXPECT_GT(behind, 0U);
  EXPECT_EQ(counts().never_sent, 0U);
  sessions_.front()->on_failure(kReset, kBegin + milliseconds(12));
  EXPECT_EQ(counts().never_sent, behind);
}

}  // namespace
}  // namespace joust
