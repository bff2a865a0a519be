// SPDX-License-Identifier: MIT
//
// What the schedule and the timed window make of late loops, slow replies and replies that never come.
#include <gtest/gtest.h>

#include "load/result.hpp"
#include "session/by_hand.hpp"

namespace joust {
namespace {

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
