// SPDX-License-Identifier: MIT
//
// A load in turns whose connections end with replies.
#include <gtest/gtest.h>

#include <algorithm>

#include "session/handovers.hpp"

namespace joust {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::heard;
using test::kNobodyThere;
using test::kOpened;

class HandoversInTurns : public test::Handovers {
 protected:
  void SetUp() override { begin({.connections = 2, .depth = 2, .turns = true}); }
  void turn(Time at) {
    run_->begin_turn(at, milliseconds(10), milliseconds(2));
    wake(at);
  }
  long rested() const { return std::ranges::count(reached_, LoadRun::Milestone::rested); }
};

TEST_F(HandoversInTurns, ATurnWaitsForTheNextConnection) {
  turn(kOpened);
  for (const auto& session : sessions_) EXPECT_EQ(heard(*session), "0\n1\n");
  hear(first(), "0 last\n", kOpened + milliseconds(5));
  hear(*sessions_[1], "0\n1\n", kOpened + milliseconds(11));
  EXPECT_EQ(rested(), 0) << "one request is still to be answered";
  Session& next = go_on(first(), kOpened + milliseconds(11), kOpened + milliseconds(12));
  EXPECT_EQ(heard(next), "0\n");
  hear(next, "0\n", kOpened + milliseconds(13));
  EXPECT_EQ(rested(), 1);
  EXPECT_EQ(counts().verified, 4U);
  EXPECT_EQ(run_->recorder().latencies().max(), 13'000'000U);
  turn(kOpened + seconds(1));
  EXPECT_EQ(heard(next), "1\n2\n");
  expect_no_failure();
}

TEST_F(HandoversInTurns, ItIsDialledAgainAtRestAndTakesPartInTheNextTurn) {
  turn(kOpened);
  for (const auto& session : sessions_) {
    heard(*session);
    hear(*session, "0\n1 last\n", kOpened + milliseconds(11));
  }
  EXPECT_EQ(rested(), 1);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(client_->redial(kOpened + milliseconds(11)).has_value());
    EXPECT_EQ(heard(connect(kOpened + milliseconds(12))), "") << "at rest";
  }
  turn(kOpened + seconds(1));
  for (std::size_t i = 2; i < 4; ++i) {
    EXPECT_EQ(heard(*sessions_[i]), "0\n1\n");
    hear(*sessions_[i], "0\n1\n", kOpened + seconds(1) + milliseconds(11));
  }
  EXPECT_EQ(rested(), 2);
  expect_no_failure();
}

TEST_F(HandoversInTurns, ATurnEndsThoughTheNextConnectionIsLost) {
  sessions_.clear();
  begin({.connections = 2, .turns = true, .reconnect = LoadPlan::Reconnect::always});
  turn(kOpened);
  heard(first());
  heard(*sessions_[1]);
  hear(first(), "0 last\n", kOpened + milliseconds(5));
  ASSERT_TRUE(client_->redial(kOpened + milliseconds(5)).has_value());
  client_->not_opened(kNobodyThere, kOpened + milliseconds(6));
  hear(*sessions_[1], "0\n", kOpened + milliseconds(11));
  EXPECT_EQ(rested(), 1);
}

TEST_F(HandoversInTurns, TheRestBetweenTwoTurnsIsNoLatency) {
  sessions_.clear();
  begin({.messages_per_connection = 1, .turns = true, .counted_turns = true});
  run_->begin_counted_turn(kOpened, 1, true);
  wake(kOpened);
  heard(first());
  hear(first(), "0\n", kOpened + milliseconds(1));
  ASSERT_TRUE(client_->redial(kOpened + milliseconds(1)).has_value());
  const Time again = kOpened + seconds(10);
  run_->begin_counted_turn(again, 1, true);
  Session& next = connect(again + milliseconds(1));  // it was dialled at rest
  wake(again + milliseconds(1));
  EXPECT_EQ(heard(next), "0\n");
  hear(next, "0\n", again + milliseconds(3));
  EXPECT_EQ(counts().verified, 2U);
  EXPECT_EQ(run_->recorder().latencies().max(), 3'000'000U);
}

// It was not there while the turn passed, and writes its first requests once.
TEST_F(HandoversInTurns, ATurnMayEndBetweenTwoConnections) {
  turn(kOpened);
  heard(first());
  hear(first(), "0\n1\n", kOpened + milliseconds(1));
  heard(first());
  hear(first(), "2\n3 last\n", kOpened + milliseconds(1));
  hear(*sessions_[1], "0\n1\n", kOpened + milliseconds(11));
  EXPECT_EQ(rested(), 0);
  Session& next = go_on(first(), kOpened + milliseconds(11), kOpened + milliseconds(12));
  EXPECT_EQ(rested(), 1);
  EXPECT_EQ(heard(next), "");
  turn(kOpened + seconds(1));
  EXPECT_EQ(heard(next), "0\n1\n");
  hear(next, "0\n1\n", kOpened + seconds(1) + milliseconds(11));
  heard(*sessions_[1]);
  hear(*sessions_[1], "2\n3\n", kOpened + seconds(1) + milliseconds(11));
  EXPECT_EQ(rested(), 2);
  expect_no_failure();
}

TEST_F(HandoversInTurns, ADialThatFailsEndsItsPartInTheTurn) {
  turn(kOpened);
  for (const auto& session : sessions_) heard(*session);
  hear(first(), "0 last\n", kOpened + milliseconds(5));
  hear(*sessions_[1], "0\n1\n", kOpened + milliseconds(11));
  expect_an_end(first(), kOpened + milliseconds(11));
  client_->not_opened(kNobodyThere, kOpened + milliseconds(12));
  EXPECT_EQ(rested(), 1);
  EXPECT_EQ(counts().failed, 1U);
  EXPECT_TRUE(balances());
  EXPECT_EQ(run_->connections_failed(), 1U);
}

}  // namespace
}  // namespace joust
