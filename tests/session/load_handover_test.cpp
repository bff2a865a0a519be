// SPDX-License-Identifier: MIT
//
// A load whose connections end with replies, and hand over to others.
//
// A load in turns whose connections end with replies.
#include <gtest/gtest.h>

#include <algorithm>

#include "load/result.hpp"
#include "session/handovers.hpp"

namespace joust {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::heard;
using test::kNobodyThere;
using test::kOpened;

using Handovers = test::Handovers;

TEST_F(Handovers, TheRequestsBehindTheLastReplyAreSentAgain) {
  begin({.messages = 10, .depth = 3});
  EXPECT_EQ(heard(first()), "0\n1\n2\n");
  hear(first(), "0\n", kOpened);
  EXPECT_EQ(heard(first()), "3\n");
  hear(first(), "1 last\nand bytes that are of no use", kOpened);
  Session& next = go_on(first(), kOpened, kOpened + milliseconds(1));
  EXPECT_EQ(heard(next), "0\n1\n2\n") << "two again, and one more";
  hear(next, "0\n1\n2\n", kOpened + milliseconds(1));
  EXPECT_EQ(heard(next), "3\n4\n5\n");
  hear(next, "3\n4\n5\n", kOpened + milliseconds(1));
  EXPECT_EQ(heard(next), "6\n7\n");
  hear(next, "6\n7\n", kOpened + milliseconds(1));
  EXPECT_TRUE(next.finished());
  EXPECT_EQ(counts().verified, 10U);
  expect_no_failure();
}

TEST_F(Handovers, ACountOfMessagesIsOneCountOverAllConnections) {
  begin({.messages = 5});
  Session* now = &first();
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(heard(*now), "0\n");
    hear(*now, "0 last\n", kOpened);
    now = &go_on(*now, kOpened, kOpened);
  }
  hear(*now, "0 last\n", kOpened + seconds(1));
  EXPECT_TRUE(now->finished());
  EXPECT_EQ(client_->redial(kOpened), std::nullopt) << "nothing is left to do";
  EXPECT_EQ(counts().verified, 5U);
  EXPECT_EQ(counts().answered, 1U) << "it is one connection of the load";
  EXPECT_EQ(run_->handovers(), 4U);
  EXPECT_EQ(reached_.back(), LoadRun::Milestone::closed);
  expect_no_failure();
}

TEST_F(Handovers, LatencyCountsFromTheFirstSend) {
  begin({.duration = seconds(1), .depth = 2});
  heard(first());
  hear(first(), "0 last\n", kOpened + milliseconds(10));
  Session& next = go_on(first(), kOpened + milliseconds(10), kOpened + milliseconds(50));
  hear(next, "0\n", kOpened + milliseconds(300));
  EXPECT_EQ(run_->recorder().latencies().max(), 300'000'000U);
  next.on_deadline(kOpened + seconds(1));
  EXPECT_EQ(counts().sent, 4U);
  EXPECT_EQ(counts().in_flight, 2U);
  expect_no_failure();
}

TEST_F(Handovers, ARequestIsCountedOnceThoughItIsSentTwice) {
  begin({.duration = seconds(1), .warmup = seconds(1), .depth = 2});
  heard(first());
  hear(first(), "0 last\n", kOpened + milliseconds(900));
  EXPECT_EQ(counts().sent, 0U) << "the warm-up";
  Session& second = go_on(first(), kOpened + milliseconds(900), kOpened + milliseconds(1100));
  EXPECT_EQ(counts().sent, 2U) << "one in flight as the window opened, and one more";
  hear(second, "0\n1 last\n", kOpened + milliseconds(1200));
  EXPECT_EQ(counts().sent, counts().verified + 0U + counts().in_flight);
  Session& third = go_on(second, kOpened + milliseconds(1200), kOpened + milliseconds(1300));
  third.on_deadline(kOpened + seconds(2));
  EXPECT_EQ(counts().verified, 2U);
  expect_no_failure();
}

TEST_F(Handovers, AfterTheWindowOfAClosedLoopNothingIsSentAgain) {
  begin({.duration = seconds(1), .depth = 2});
  heard(first());
  first().on_deadline(kOpened + seconds(1));
  hear(first(), "0 last\n", kOpened + milliseconds(1010));
  EXPECT_TRUE(first().finished());
  EXPECT_EQ(client_->redial(kOpened + milliseconds(1010)), std::nullopt);
  EXPECT_EQ(counts().in_flight, 2U);
  expect_no_failure();
}

TEST_F(Handovers, TheWindowMayEndBetweenTwoConnections) {
  begin({.duration = seconds(1), .depth = 2});
  heard(first());
  hear(first(), "0 last\n", kOpened + milliseconds(990));
  EXPECT_EQ(counts().in_flight, 1U) << "should the run end now";
  Session& next = go_on(first(), kOpened + milliseconds(990), kOpened + milliseconds(1010));
  EXPECT_EQ(counts().in_flight, 1U);
  EXPECT_EQ(counts().sent, 2U);
  hear(next, "0\n", kOpened + milliseconds(1020));
  EXPECT_TRUE(next.finished());
  expect_no_failure();
}

TEST_F(Handovers, AnOpenLoopKeepsItsSchedule) {
  begin({.duration = seconds(1), .rate_per_s = 10, .arrivals = LoadPlan::Arrivals::constant, .depth = 4});
  first().on_deadline(kOpened);
  first().on_deadline(kOpened + milliseconds(100));
  heard(first());
  hear(first(), "0 last\n", kOpened + milliseconds(150));
  Session& second = go_on(first(), kOpened + milliseconds(150), kOpened + milliseconds(450));
  EXPECT_EQ(heard(second), "0\n1\n2\n3\n") << "one again, and what was due at 200, 300 and 400 ms";
  hear(second, "0\n1\n2\n3\n", kOpened + milliseconds(460));
  for (int at = 500; at < 1000; at += 100) second.on_deadline(kOpened + milliseconds(at));
  heard(second);
  second.on_deadline(kOpened + seconds(1));
  hear(second, "4\n5 last\n", kOpened + milliseconds(1001));
  Session& third = go_on(second, kOpened + milliseconds(1001), kOpened + milliseconds(1100));
  hear(third, "0\n1\n2\n", kOpened + milliseconds(1101));
  EXPECT_TRUE(third.finished());
  const LoadResult load = conclude(*run_, {}, false, kOpened + seconds(2));
  EXPECT_EQ(load.due(), 10U);
  EXPECT_EQ(load.messages.verified, 10U);
  EXPECT_EQ(load.latency_ns.max(), 501'000'000U) << "due at 600 ms";
  EXPECT_EQ(load.send_lateness().max(), 1U) << "the time without a connection is the server's";
  expect_no_failure();
}

TEST_F(Handovers, AScheduleIsGoneOnWith) {
  begin({.duration = seconds(1), .interval = milliseconds(100)});
  first().on_deadline(kOpened);
  heard(first());
  hear(first(), "0 last\n", kOpened + milliseconds(10));
  Session& next = go_on(first(), kOpened + milliseconds(10), kOpened + milliseconds(20));
  EXPECT_EQ(heard(next), "");
  EXPECT_EQ(next.deadline(), kOpened + milliseconds(100));
}

TEST_F(Handovers, ADialThatFailsLosesWhatWasInHand) {
  begin({.duration = seconds(1), .depth = 3});
  heard(first());
  hear(first(), "0 last\n", kOpened + milliseconds(10));
  expect_an_end(first(), kOpened + milliseconds(10));
  client_->not_opened(kNobodyThere, kOpened + milliseconds(11));
  EXPECT_EQ(counts().sent, 3U);
  EXPECT_EQ(counts().failed, 2U);
  EXPECT_EQ(counts().in_flight, 0U);
  EXPECT_TRUE(balances());
  EXPECT_EQ(run_->connections_failed(), 1U);
  EXPECT_EQ(run_->failures(Stage::connect), 1U);
  EXPECT_EQ(client_->redial(kOpened + milliseconds(12)), std::nullopt);
}

TEST_F(Handovers, OneThatFailsComesBackIfThePlanSaysSo) {
  begin({.messages = 3, .reconnect = LoadPlan::Reconnect::always});
  heard(first());
  hear(first(), "0 last\n", kOpened + seconds(100));
  const auto order = client_->redial(kOpened + seconds(100));
  ASSERT_TRUE(order && order->at <= kOpened + seconds(100));
  client_->not_opened(kNobodyThere, kOpened + seconds(100));
  const auto again = client_->redial(kOpened + seconds(100));
  ASSERT_TRUE(again.has_value()) << "it had a reply just now";
  EXPECT_GT(again->at, kOpened + seconds(100)) << "the server is gone: after a pause";
  ASSERT_LE(client_->redial(again->at)->at, again->at);
  Session& next = connect(again->at);
  hear(next, "0\n", again->at);
  hear(next, "1\n", again->at);
  EXPECT_TRUE(next.finished());
  EXPECT_EQ(counts().verified, 3U);
  EXPECT_TRUE(balances());
  EXPECT_EQ(run_->connections_failed(), 0U);
}

TEST_F(Handovers, ADialThatFailsLosesWhatWasInHandAlsoIfItComesBack) {
  begin({.duration = seconds(1), .depth = 3, .reconnect = LoadPlan::Reconnect::always});
  heard(first());
  hear(first(), "0 last\n", kOpened + milliseconds(10));
  ASSERT_TRUE(client_->redial(kOpened + milliseconds(10)).has_value());
  client_->not_opened(kNobodyThere, kOpened + milliseconds(11));
  EXPECT_EQ(counts().sent, 3U);
  EXPECT_EQ(counts().failed, 2U);
  EXPECT_TRUE(balances());
}

// Connections that the load ends (LoadPlan::messages_per_connection).

TEST_F(Handovers, TheLoadEndsAConnectionAfterSoManyReplies) {
  begin({.messages = 5, .messages_per_connection = 2, .depth = 3});
  EXPECT_EQ(heard(first()), "0\n1\n") << "no third request, which would have to be sent again";
  hear(first(), "0\n1\n", kOpened);
  Session& second = go_on(first(), kOpened, kOpened);
  EXPECT_EQ(heard(second), "0\n1\n");
  hear(second, "0\n", kOpened);
  EXPECT_FALSE(second.finished());
  hear(second, "1\n", kOpened);
  Session& third = go_on(second, kOpened, kOpened);
  hear(third, "0\n", kOpened);
  EXPECT_TRUE(third.finished());
  EXPECT_EQ(client_->redial(kOpened), std::nullopt) << "nothing is left to do";
  EXPECT_EQ(counts().verified, 5U);
  EXPECT_EQ(run_->handovers(), 2U);
  expect_no_failure();
}

TEST_F(Handovers, TheWaitForTheNextConnectionIsLatency) {
  begin({.messages_per_connection = 1, .duration = seconds(1)});
  heard(first());
  hear(first(), "0\n", kOpened + milliseconds(10));
  Session& next = go_on(first(), kOpened + milliseconds(10), kOpened + milliseconds(110));
  hear(next, "0\n", kOpened + milliseconds(130));
  EXPECT_EQ(run_->recorder().latencies().max(), 120'000'000U);
  Session& third = go_on(next, kOpened + milliseconds(130), kOpened + milliseconds(131));
  third.on_deadline(kOpened + seconds(1));
  expect_no_failure();
}

TEST_F(Handovers, BytesBehindTheLastReplyOfTheLoadsOwnChoiceAreAFailure) {
  begin({.messages_per_connection = 1, .duration = seconds(1)});
  heard(first());
  hear(first(), "0\nmore", kOpened + milliseconds(10));
  EXPECT_EQ(run_->connections_failed(), 1U);
  EXPECT_EQ(run_->handovers(), 0U);
}

TEST_F(Handovers, EachConnectionHasItsFirstAndLastWords) {
  begin({.messages = 3, .messages_per_connection = 1}, test::EndingExchange::Words::polite);
  EXPECT_EQ(heard(first()), "hello\n");
  hear(first(), "hello\n", kOpened);
  Session* now = &first();
  for (int i = 0; i < 2; ++i) {
    wake(kOpened);
    EXPECT_EQ(heard(*now), "0\n");
    hear(*now, "0\n", kOpened);
    EXPECT_TRUE(now->finished());
    EXPECT_FALSE(now->gives_up()) << "its last words are still to be sent";
    EXPECT_EQ(heard(*now), "bye\n");
    ASSERT_TRUE(client_->redial(kOpened).has_value());
    now = &connect(kOpened);
    EXPECT_EQ(heard(*now), "hello\n");
    hear(*now, "hello\n", kOpened);
  }
  EXPECT_EQ(heard(*now), "0\n");
  hear(*now, "0\n", kOpened);
  EXPECT_EQ(heard(*now), "bye\n");
  EXPECT_EQ(counts().verified, 3U);
  expect_no_failure();
}

TEST_F(Handovers, AGreetingWithoutAnAnswerFailsTheConnectionThatTakesOver) {
  begin({.messages_per_connection = 1, .duration = seconds(100), .request_timeout = seconds(1)},
        test::EndingExchange::Words::polite);
  heard(first());
  hear(first(), "hello\n", kOpened);
  wake(kOpened);
  heard(first());
  hear(first(), "0\n", kOpened);
  heard(first());
  ASSERT_TRUE(client_->redial(kOpened).has_value());
  Session& next = connect(kOpened);
  heard(next);
  EXPECT_EQ(next.deadline(), kOpened + seconds(1));
  next.on_deadline(kOpened + seconds(1));
  EXPECT_EQ(run_->failures(Stage::timeout), 1U);
  EXPECT_EQ(run_->connections_failed(), 1U);
  EXPECT_TRUE(balances());
}

TEST_F(Handovers, AStopBetweenTwoConnectionsLeavesTheBooksInOrder) {
  begin({.connections = 2, .duration = seconds(1), .depth = 3});
  heard(first());
  hear(first(), "0 last\n", kOpened + milliseconds(10));
  sessions_[1]->on_drain(kOpened + milliseconds(20));
  EXPECT_EQ(counts().sent, 6U);
  EXPECT_EQ(counts().in_flight, 5U);
  expect_no_failure();
}

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
