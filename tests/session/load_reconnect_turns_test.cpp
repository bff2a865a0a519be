// SPDX-License-Identifier: MIT
//
// A load in turns whose lost connections come back.
#include <gtest/gtest.h>

#include <algorithm>

#include "session/reconnecting.hpp"

namespace joust {
namespace {

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
