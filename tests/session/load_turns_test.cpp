// SPDX-License-Identifier: MIT
//
// A load that works in turns only (LoadPlan::turns).
//
// A load whose turns are a number of messages of each connection (LoadPlan::counted_turns).
#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "load/result.hpp"
#include "load/run.hpp"
#include "protocols/table.hpp"
#include "session/by_hand.hpp"

namespace joust {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::answer;
using test::heard;

constexpr Time kFirstTurn = Time(seconds(2000));

// Two connections of a load on echo, whose every input a test gives by hand.
class LoadTurns : public testing::Test {
 protected:
  void SetUp() override {
    run_.observe([this](LoadRun::Milestone milestone) {
      if (milestone == LoadRun::Milestone::rested) ++rested_;
    });
    for (auto& session : sessions_) session = client_->open({});
    for (const auto& session : sessions_) session->on_open(kFirstTurn - seconds(100));
  }

  // A turn of 10 ms; its first 2 ms are the ramp.
  void begin(Time at) {
    run_.begin_turn(at, milliseconds(10), milliseconds(2));
    for (const auto& session : sessions_)
      if (session->deadline() && *session->deadline() <= at) session->on_deadline(at);
  }
  void answer_all(Time at) {
    for (const auto& session : sessions_) answer(*session, at);
  }

  Recorder::Counts counts() const { return run_.recorder().counts(); }

  LoadRun run_{{.connections = 2, .turns = true}};
  std::unique_ptr<Service> client_ = builtin_protocols().front().make_client({.payload = 8}, run_);
  std::array<std::unique_ptr<Session>, 2> sessions_;
  int rested_ = 0;
};

TEST_F(LoadTurns, NothingIsSentBeforeTheFirstTurn) {
  for (const auto& session : sessions_) {
    EXPECT_EQ(heard(*session), "");
    EXPECT_EQ(session->deadline(), std::nullopt) << "no limit runs while it rests";
  }
}

TEST_F(LoadTurns, TheRampIsCountedBesideTheWindowAndTheLastRepliesInIt) {
  begin(kFirstTurn);
  answer_all(kFirstTurn + milliseconds(1));
  EXPECT_EQ(counts().verified, 0U);
  EXPECT_EQ(counts().beside, 2U);
  answer_all(kFirstTurn + milliseconds(5));
  answer_all(kFirstTurn + milliseconds(8));
  EXPECT_EQ(counts().verified, 4U);
  EXPECT_EQ(rested_, 0);
  answer_all(kFirstTurn + milliseconds(11));
  EXPECT_EQ(rested_, 1);
  EXPECT_EQ(counts().verified, 6U);
  EXPECT_EQ(counts().beside, 2U);
  const Recorder::Replies replies = run_.recorder().replies_since(kFirstTurn);
  EXPECT_EQ(replies.last_of_ramp, kFirstTurn + milliseconds(1));
  EXPECT_EQ(replies.last, kFirstTurn + milliseconds(11));
  for (const auto& session : sessions_) EXPECT_EQ(heard(*session), "") << "at rest";
  EXPECT_EQ(counts().sent, counts().verified + counts().failed + counts().in_flight);
}

// The server stalls just when the time of the turn is over.
TEST_F(LoadTurns, AStallAtTheEndCostsTimeAndLatency) {
  begin(kFirstTurn);
  answer_all(kFirstTurn + milliseconds(9));
  answer_all(kFirstTurn + milliseconds(109));
  const LoadResult result = conclude(run_, {}, false, kFirstTurn + seconds(500));
  EXPECT_DOUBLE_EQ(result.duration_s, 0.107);
  EXPECT_GE(result.latency_ns.max(), 99'000'000U);
  EXPECT_EQ(result.messages.sent, result.messages.verified);
}

TEST_F(LoadTurns, AStopInTheMiddleOfATurnKeepsTheBooks) {
  begin(kFirstTurn);
  answer_all(kFirstTurn + milliseconds(4));
  answer(*sessions_[0], kFirstTurn + milliseconds(12));
  for (const auto& session : sessions_) session->on_drain(kFirstTurn + milliseconds(13));
  EXPECT_EQ(counts().sent, counts().verified + counts().failed + counts().in_flight);
}

TEST_F(LoadTurns, EndsWhenTheLastConnectionIsAnswered) {
  begin(kFirstTurn);
  answer(*sessions_[0], kFirstTurn + milliseconds(12));
  EXPECT_EQ(rested_, 0);
  answer(*sessions_[1], kFirstTurn + milliseconds(30));
  EXPECT_EQ(rested_, 1);
}

TEST_F(LoadTurns, TheTimeBetweenTurnsCountsNowhere) {
  for (int turn = 0; turn < 3; ++turn) {
    const Time begins = kFirstTurn + seconds(100) * turn;
    begin(begins);
    answer_all(begins + milliseconds(4));
    answer_all(begins + milliseconds(10));
  }
  EXPECT_EQ(rested_, 3);
  const LoadResult result = conclude(run_, {}, false, kFirstTurn + seconds(500));
  EXPECT_DOUBLE_EQ(result.duration_s, 0.024);
  EXPECT_EQ(result.messages.verified, 12U);
  EXPECT_LE(result.latency_ns.max(), 6'100'000U);
  EXPECT_TRUE(result.clean());
}

TEST_F(LoadTurns, WhatIsNotRecordedLeavesNoTrace) {
  run_.begin_turn(kFirstTurn, milliseconds(10), std::nullopt);
  for (const auto& session : sessions_) session->on_deadline(kFirstTurn);
  answer_all(kFirstTurn + milliseconds(5));
  answer_all(kFirstTurn + milliseconds(10));
  EXPECT_EQ(rested_, 1);
  EXPECT_EQ(counts().verified, 0U);
  EXPECT_EQ(counts().sent, 0U);
  EXPECT_EQ(counts().beside, 4U);
  begin(kFirstTurn + seconds(1));
  answer_all(kFirstTurn + seconds(1) + milliseconds(4));
  EXPECT_EQ(counts().verified, 2U);
}

TEST_F(LoadTurns, AFailedConnectionIsNotWaitedFor) {
  begin(kFirstTurn);
  sessions_[0]->on_failure({Stage::receive, ECONNRESET, "recv"}, kFirstTurn + milliseconds(3));
  answer(*sessions_[1], kFirstTurn + milliseconds(10));
  EXPECT_EQ(rested_, 1);
  begin(kFirstTurn + seconds(1));
  answer(*sessions_[1], kFirstTurn + seconds(1) + milliseconds(10));
  EXPECT_EQ(rested_, 2);
}

TEST_F(LoadTurns, AConnectionThatFailsAtRestIsNotWaitedForEither) {
  sessions_[0]->on_peer_finished(kFirstTurn - seconds(1));
  begin(kFirstTurn);
  answer(*sessions_[1], kFirstTurn + milliseconds(10));
  EXPECT_EQ(rested_, 1);
  EXPECT_EQ(run_.connections_failed(), 1U);
}

TEST_F(LoadTurns, AStopAtRestEndsAllConnectionsCleanly) {
  begin(kFirstTurn);
  answer_all(kFirstTurn + milliseconds(4));
  answer_all(kFirstTurn + milliseconds(10));
  for (const auto& session : sessions_) {
    session->on_drain(kFirstTurn + seconds(1));
    EXPECT_TRUE(session->finished());
    EXPECT_EQ(heard(*session), "");
  }
  EXPECT_TRUE(conclude(run_, {}, false, kFirstTurn + seconds(2)).clean());
}

// A member of a room: replies are "r", the other members' messages "o".
class Member : public Exchange {
 public:
  explicit Member(std::uint64_t& ended) : ended_(ended) {}
  void write_request(std::uint64_t, Writer& request) override { request.send("q"); }
  bool write_greeting(Writer& greeting) override {
    greeting.send("g");
    return true;
  }
  MessageKind classify(std::uint64_t, Bytes message) override {
    const std::string_view text = as_text(message);
    others_ += text == "o";
    return text == "g" ? MessageKind::greeting : text == "r" ? MessageKind::reply : MessageKind::other;
  }
  void on_last_request() override { ++ended_; }
  bool complete() const override { return others_ >= ended_; }  // one in each turn

 private:
  std::uint64_t& ended_;
  std::uint64_t others_ = 0;
};

class RoomInTurns : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(TimesAndCounts, RoomInTurns, testing::Bool());

TEST_P(RoomInTurns, ATurnLastsUntilEveryMessageHasArrived) {
  LoadRun run{{.turns = true, .counted_turns = GetParam()}};
  int rested = 0;
  run.observe([&](LoadRun::Milestone milestone) { rested += milestone == LoadRun::Milestone::rested; });
  std::uint64_t ended = 0;
  const auto make =
      exchange_client(Line{}, [&](const Parameters&) { return std::make_unique<Member>(ended); });
  const std::unique_ptr<Service> client = make({}, run);
  const std::unique_ptr<Session> member = client->open({});
  const auto say = [&](const char* text, Time at) { member->on_bytes(as_bytes(text), at); };
  member->on_open(kFirstTurn - seconds(1));
  EXPECT_EQ(heard(*member), "g\n");
  say("g\n", kFirstTurn - seconds(1));
  for (unsigned turn = 1; turn <= 2; ++turn) {
    const Time begins = kFirstTurn + seconds(turn);
    EXPECT_EQ(heard(*member), "") << "a message that is not sent is none to wait for";
    EXPECT_EQ(member->deadline(), std::nullopt);
    if (GetParam())
      run.begin_counted_turn(begins, 1, true);
    else
      run.begin_turn(begins, milliseconds(10), milliseconds(2));
    member->on_deadline(begins);
    EXPECT_EQ(heard(*member), "q\n");
    say("r\n", begins + milliseconds(11));
    EXPECT_EQ(ended, turn);
    EXPECT_TRUE(run.turn_under_way());
    say("o\n", begins + milliseconds(15));
    EXPECT_FALSE(run.turn_under_way());
    EXPECT_EQ(rested, static_cast<int>(turn));
  }
  EXPECT_EQ(run.connections_failed(), 0U);
}

TEST(Turns, OneTurnAtATime) {
  Turns turns;
  EXPECT_FALSE(turns.begin()) << "there is nobody";
  turns.joined();
  EXPECT_TRUE(turns.begin());
  EXPECT_FALSE(turns.begin());
  EXPECT_TRUE(turns.rested());
  EXPECT_TRUE(turns.begin());
  EXPECT_EQ(turns.number(), 2U);
}

// However the beginning of a turn and the end of a connection fall together, the turn ends.
TEST(Turns, EndsWhicheverComesFirstABeginningOrAFailure) {
  for (int i = 0; i < 2000; ++i) {
    Turns turns;
    turns.joined();
    turns.joined();
    std::atomic<int> ended{0};
    std::thread failing([&] { ended += turns.gone(0, true); });
    const bool begun = turns.begin();
    failing.join();
    ASSERT_TRUE(begun);
    ended += turns.rested();
    ASSERT_EQ(ended, 1);
  }
}

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
