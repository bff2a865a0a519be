// SPDX-License-Identifier: MIT
//
// What the schedule and the timed window make of late loops, slow replies and replies that never come.
#include <gtest/gtest.h>

#include <cmath>

#include "load/result.hpp"
#include "load/schedule.hpp"
#include "session/by_hand.hpp"

namespace joust {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr Time kBeginning = Time(seconds(4000));

TEST(LoadSchedule, AFractionOfANanosecondIsNotLost) {
  Schedule schedule({.connections = 1, .rate_per_s = 3e6, .arrivals = LoadPlan::Arrivals::constant}, 0);
  schedule.begin(kBeginning);
  for (int i = 0; i < 3'000'000; ++i) schedule.advance();
  EXPECT_EQ(schedule.next(), kBeginning + seconds(1));
}

TEST(LoadSchedule, PoissonGapsHaveTheirMeanAndTheirSpread) {
  Schedule schedule({.connections = 1, .rate_per_s = 1000, .arrivals = LoadPlan::Arrivals::poisson}, 0);
  schedule.begin(kBeginning);
  Time before = kBeginning;
  double sum = 0, squares = 0, longer = 0;
  constexpr int kGaps = 200'000;
  for (int i = 0; i < kGaps; ++i, schedule.advance()) {
    const double gap_ms = std::chrono::duration<double, std::milli>(schedule.next() - before).count();
    before = schedule.next();
    sum += gap_ms;
    squares += gap_ms * gap_ms;
    longer += gap_ms > 1 ? 1 : 0;
  }
  const double mean = sum / kGaps;
  EXPECT_NEAR(mean, 1, 0.01);
  EXPECT_NEAR(std::sqrt(squares / kGaps - mean * mean), 1, 0.02);
  EXPECT_NEAR(longer / kGaps, std::exp(-1), 0.005);
}

TEST(LoadSchedule, EachConnectionHasItsOwnArrivals) {
  const LoadPlan plan{.connections = 2, .rate_per_s = 1000, .arrivals = LoadPlan::Arrivals::poisson};
  Schedule one(plan, 0), same(plan, 0), other(plan, 1);
  for (Schedule* schedule : {&one, &same, &other}) schedule->begin(kBeginning);
  EXPECT_EQ(one.next(), same.next());
  EXPECT_NE(one.next(), other.next());
  LoadPlan again = plan;
  again.seed = 1;
  Schedule reseeded(again, 0);
  reseeded.begin(kBeginning);
  EXPECT_NE(one.next(), reseeded.next());
}

TEST(LoadSchedule, ABurstIsDueAtOnceAndTheRateStaysTheSame) {
  Schedule schedule(
      {.connections = 1, .rate_per_s = 100, .arrivals = LoadPlan::Arrivals::constant, .burst = 4}, 0);
  schedule.begin(kBeginning);
  EXPECT_EQ(schedule.due_before(kBeginning + nanoseconds(1)), 4U);
  EXPECT_EQ(schedule.due_before(kBeginning + seconds(1)), 100U);
  for (int i = 0; i < 3; ++i) {
    schedule.advance();
    EXPECT_EQ(schedule.next(), kBeginning);
  }
  EXPECT_EQ(schedule.due_before(kBeginning + seconds(1)), 97U) << "the rest of the burst counts";
  schedule.advance();
  EXPECT_EQ(schedule.next(), kBeginning + milliseconds(40));
  EXPECT_EQ(schedule.due_before(kBeginning + seconds(1)), 96U);
}

TEST(LoadSchedule, BurstsOfSeveralConnectionsAreSpread) {
  const LoadPlan plan{
      .connections = 2, .rate_per_s = 100, .arrivals = LoadPlan::Arrivals::constant, .burst = 4};
  Schedule second(plan, 1);
  second.begin(kBeginning);
  EXPECT_EQ(second.next(), kBeginning + milliseconds(40)) << "half of 80 ms";
}

TEST(LoadSchedule, RequestsThatAreDueAreCounted) {
  Schedule schedule({.connections = 1, .rate_per_s = 100, .arrivals = LoadPlan::Arrivals::constant}, 0);
  schedule.begin(kBeginning);
  EXPECT_EQ(schedule.due_before(kBeginning), 0U);
  EXPECT_EQ(schedule.due_before(kBeginning + nanoseconds(1)), 1U);
  EXPECT_EQ(schedule.due_before(kBeginning + seconds(1)), 100U);
}

TEST(LoadSchedule, TheLongestPauseIsThatOfTheArrivals) {
  EXPECT_EQ(longest_gap({}), Duration{});
  EXPECT_EQ(longest_gap({.interval = seconds(3)}), seconds(3));
  EXPECT_EQ(longest_gap({.connections = 10, .rate_per_s = 1, .arrivals = LoadPlan::Arrivals::constant}),
            seconds(10));
  EXPECT_GT(longest_gap({.rate_per_s = 1}), seconds(36)) << "as of users";
  EXPECT_EQ(longest_gap({.rate_per_s = 1, .phase = LoadPlan::Phase::together}), seconds(1)) << "in bursts";
}

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::heard;

constexpr Time kStart = Time(seconds(1000));

class LoadWindow : public test::EchoLoad {
 protected:
  void begin(const LoadPlan& plan) { EchoLoad::begin(plan, kStart); }

  static void answer(Session& session, Duration at) { test::answer(session, kStart + at); }

  Duration greatest_latency() const { return Duration(run_->recorder().latencies().max()); }
};

TEST_F(LoadWindow, WhatALateLoopDelaysCountsFromWhenItWasDue) {
  begin({.messages = 3, .interval = milliseconds(10), .phase = LoadPlan::Phase::together});
  answer(first(), milliseconds(1));
  EXPECT_EQ(first().deadline(), kStart + milliseconds(10));
  first().on_deadline(kStart + milliseconds(14));
  answer(first(), milliseconds(15));
  EXPECT_EQ(greatest_latency(), milliseconds(5));
  EXPECT_EQ(first().deadline(), kStart + milliseconds(20)) << "the schedule goes on as it was";
}

TEST_F(LoadWindow, WhatASlowReplyDelaysIsNotMadeUpFor) {
  begin({.messages = 4, .interval = milliseconds(10), .phase = LoadPlan::Phase::together});
  answer(first(), milliseconds(35));
  EXPECT_EQ(greatest_latency(), milliseconds(35));
  answer(first(), milliseconds(36));
  EXPECT_EQ(greatest_latency(), milliseconds(35)) << "the reply's delay is not charged twice";
  EXPECT_EQ(heard(first()), "") << "a burst";
  EXPECT_EQ(first().deadline(), kStart + milliseconds(45));
}

TEST_F(LoadWindow, AConnectionWithoutAReplyInTheWindowIsKnown) {
  begin({.connections = 2, .duration = milliseconds(100), .request_timeout = seconds(5)});
  answer(*sessions_[0], milliseconds(1));
  answer(*sessions_[0], milliseconds(30));
  for (const auto& session : sessions_) session->on_deadline(kStart + milliseconds(150));
  EXPECT_EQ(counts().answered, 1U);
  EXPECT_EQ(counts().in_flight, 2U);
  EXPECT_EQ(counts().oldest_open, milliseconds(100)) << "not the 70 ms of the other, and not until now";
  answer(*sessions_[1], milliseconds(160));
  EXPECT_EQ(counts().answered, 1U) << "that came after the window";
}

TEST_F(LoadWindow, ALoadWithoutASingleReplyIsNoSuccess) {
  begin({.duration = milliseconds(100)});
  first().on_deadline(kStart + milliseconds(100));
  answer(first(), milliseconds(200));
  const LoadResult result = conclude(*run_, {}, false, kStart + milliseconds(200));
  EXPECT_EQ(result.connections.failed, 0U);
  EXPECT_FALSE(result.clean());
  ASSERT_TRUE(result.window_ns.has_value());
  EXPECT_EQ(result.window_ns->from, kStart);
  EXPECT_EQ(result.window_ns->to, kStart + milliseconds(100));
}

}  // namespace
}  // namespace joust
