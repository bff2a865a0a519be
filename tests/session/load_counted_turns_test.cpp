// SPDX-License-Identifier: MIT
//
// A load whose turns are a number of messages of each connection (LoadPlan::counted_turns).
#include <gtest/gtest.h>

#include "load/result.hpp"
#include "session/by_hand.hpp"

namespace joust {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::answer;
using test::heard;

constexpr Time kFirstCounted = Time(seconds(2000));

// Two connections, whose every input a test gives by hand.
class CountedTurns : public test::EchoLoad {
 protected:
  void SetUp() override { connect({.connections = 2, .turns = true, .counted_turns = true}); }
  void connect(const LoadPlan& plan) {
    sessions_.clear();
    EchoLoad::begin(plan, kFirstCounted - seconds(100));
    run_->observe(
        [this](LoadRun::Milestone milestone) { rested_ += milestone == LoadRun::Milestone::rested; });
  }
  void begin(Time at, std::uint64_t messages, bool recorded = true) {
    run_->begin_counted_turn(at, messages, recorded);
    for (const auto& session : sessions_)
      if (session->deadline() && *session->deadline() <= at) session->on_deadline(at);
  }
  void answer_all(Time at) {
    for (const auto& session : sessions_) answer(*session, at);
  }

  int rested_ = 0;
};

TEST_F(CountedTurns, ATurnIsSoManyMessagesOfEachConnection) {
  for (const std::uint64_t messages : {3U, 1U, 2U}) {
    const std::uint64_t before = counts().verified;
    const Time begins = kFirstCounted + seconds(rested_);
    const int turn = rested_;
    begin(begins, messages);
    for (std::uint64_t i = 1; i <= messages; ++i) {
      EXPECT_EQ(rested_, turn);
      answer_all(begins + milliseconds(i));
    }
    EXPECT_EQ(rested_, turn + 1);
    EXPECT_EQ(counts().verified, before + 2 * messages);
    for (const auto& session : sessions_) {
      EXPECT_EQ(heard(*session), "") << "at rest";
      EXPECT_EQ(session->deadline(), std::nullopt);
    }
  }
  const LoadResult result = conclude(*run_, {}, false, kFirstCounted + seconds(500));
  EXPECT_DOUBLE_EQ(result.duration_s, 0.006) << "each from its beginning to its last reply";
  EXPECT_EQ(result.messages.sent, 12U);
  EXPECT_EQ(result.messages.beside, 0U) << "there is no ramp";
  EXPECT_EQ(result.bytes.sent, result.bytes.received);
  EXPECT_LE(result.latency_ns.max(), 1'100'000U);
  EXPECT_TRUE(result.clean());
}

TEST_F(CountedTurns, AConnectionHasNoMoreSlotsInUseThanTheTurnHasMessages) {
  connect({.connections = 1, .depth = 8, .turns = true, .counted_turns = true});
  begin(kFirstCounted, 3);
  while (run_->turn_under_way()) answer_all(kFirstCounted + milliseconds(1));
  begin(kFirstCounted + seconds(1), 1);
  answer_all(kFirstCounted + seconds(1));
  EXPECT_FALSE(run_->turn_under_way());
  EXPECT_EQ(counts().verified, 4U);
}

TEST_F(CountedTurns, WhatIsNotRecordedLeavesNoTrace) {
  begin(kFirstCounted, 2, false);
  answer_all(kFirstCounted + milliseconds(1));
  EXPECT_EQ(rested_, 0);
  answer_all(kFirstCounted + milliseconds(2));
  EXPECT_EQ(rested_, 1);
  EXPECT_EQ(counts().sent + counts().verified, 0U);
  EXPECT_EQ(counts().beside, 4U);
  begin(kFirstCounted + seconds(1), 1);
  answer_all(kFirstCounted + seconds(1) + milliseconds(5));
  const LoadResult result = conclude(*run_, {}, false, kFirstCounted + seconds(500));
  EXPECT_DOUBLE_EQ(result.duration_s, 0.005);
  EXPECT_EQ(result.messages.verified, 2U);
}

TEST_F(CountedTurns, AFailedConnectionIsNotWaitedFor) {
  begin(kFirstCounted, 2);
  answer_all(kFirstCounted + milliseconds(1));
  sessions_[0]->on_failure({Stage::receive, ECONNRESET, "recv"}, kFirstCounted + milliseconds(3));
  EXPECT_EQ(rested_, 0);
  answer(*sessions_[1], kFirstCounted + milliseconds(10));
  EXPECT_EQ(rested_, 1);
  EXPECT_EQ(counts().sent, counts().verified + counts().failed + counts().in_flight);
}

TEST_F(CountedTurns, AStopInTheMiddleOfATurnKeepsTheBooks) {
  begin(kFirstCounted, 5);
  answer(*sessions_[0], kFirstCounted + milliseconds(4));
  for (const auto& session : sessions_) session->on_drain(kFirstCounted + milliseconds(13));
  EXPECT_EQ(counts().sent, counts().verified + counts().failed + counts().in_flight);
}

}  // namespace
}  // namespace joust
