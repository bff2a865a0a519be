// SPDX-License-Identifier: MIT
#include "connection/stream_connection.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "connection/scripted_connection.hpp"

namespace joust {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

using test::kStart;
using test::Script;
using test::ScriptedSession;

using StreamConnectionTest = test::ScriptedConnection;

TEST_F(StreamConnectionTest, OpensTheSessionFirst) {
  EXPECT_EQ(script_.told, Told{"open"});
  EXPECT_EQ(tally_.opened, 1U);
  EXPECT_TRUE(connection_.wants_input());
  EXPECT_FALSE(connection_.has_output());
  EXPECT_FALSE(connection_.wants_shutdown());
  EXPECT_FALSE(connection_.ended());
}

TEST_F(StreamConnectionTest, CarriesBytesBothWays) {
  receive("in");
  EXPECT_EQ(script_.received, "in");
  script_.outbox.append("the reply");
  EXPECT_EQ(output(), "the reply");
  connection_.sent(4, now_);
  EXPECT_EQ(output(), "reply");
  connection_.sent(5, now_);
  EXPECT_FALSE(connection_.has_output());
}

TEST_F(StreamConnectionTest, CountsBytesWhenItGoes) {
  Tally tally;
  {
    Script script;
    script.outbox.append("four");
    StreamConnection connection(std::make_unique<ScriptedSession>(script), limits_, tally, kStart);
    connection.received(as_bytes("seven.."), kStart);
    connection.sent(4, kStart);
  }
  EXPECT_EQ(tally.received, 7U);
  EXPECT_EQ(tally.sent, 4U);
}

TEST_F(StreamConnectionTest, HoldsWhatTheSessionDoesNotWant) {
  script_.takes_at_most = 3;
  receive("abcdef");
  EXPECT_EQ(script_.received, "abc");
  EXPECT_FALSE(connection_.wants_input());
  script_.takes_at_most = 100;
  script_.want = Want::bytes;
  EXPECT_FALSE(connection_.wants_input()) << "what is held comes first";
  connection_.refresh(now_);
  EXPECT_EQ(script_.received, "abcdef");
  EXPECT_TRUE(connection_.wants_input());
}

TEST_F(StreamConnectionTest, PassesOnInStepsWhatItHolds) {
  script_.takes_at_most = 1;
  receive("abcdef");
  const auto take = [&](std::size_t bytes) {
    script_.want = Want::bytes;
    script_.takes_at_most = bytes;
    connection_.refresh(now_);
    return script_.received;
  };
  EXPECT_EQ(take(2), "abc");
  receive("gh");  // a completion of a ring may still bring bytes
  EXPECT_EQ(take(2), "abcde");
  EXPECT_FALSE(connection_.wants_input());
  EXPECT_EQ(take(100), "abcdefgh");
  EXPECT_TRUE(connection_.wants_input());
  receive("i");
  EXPECT_EQ(script_.received, "abcdefghi");
}

TEST_F(StreamConnectionTest, TellsTheSessionOfPublicationsUntilItsEnd) {
  connection_.refresh(now_);
  EXPECT_EQ(script_.published, 1U);
  connection_.failed({Stage::receive, ECONNRESET, {}}, now_);
  connection_.refresh(now_);
  EXPECT_EQ(script_.published, 1U);
}

TEST_F(StreamConnectionTest, OffersWhatItHoldsAfterEachAcknowledgement) {
  script_.outbox.append("reply");
  script_.takes_at_most = 1;
  receive("abc");
  script_.want = Want::bytes;
  script_.takes_at_most = 100;
  connection_.sent(5, now_);
  EXPECT_EQ(script_.received, "abc");
}

TEST_F(StreamConnectionTest, EndOfThePeerIsToldAfterItsLastBytes) {
  script_.takes_at_most = 1;
  receive("abc");
  connection_.peer_finished(now_);
  EXPECT_EQ(script_.told, Told{"open"});
  EXPECT_FALSE(connection_.wants_input());
  script_.want = Want::bytes;
  script_.takes_at_most = 100;
  connection_.refresh(now_);
  EXPECT_EQ(script_.received, "abc");
  EXPECT_EQ(script_.told, (Told{"open", "peer finished"}));
  connection_.refresh(now_);
  EXPECT_EQ(script_.told.size(), 2U) << "told twice";
}

TEST_F(StreamConnectionTest, HalfClosedByThePeerEndsWhenAllIsSent) {
  script_.outbox.append("the whole reply");
  connection_.peer_finished(now_);
  script_.finished = true;
  EXPECT_FALSE(connection_.ended());
  EXPECT_EQ(output(), "the whole reply");
  connection_.sent(15, now_);
  EXPECT_FALSE(connection_.wants_shutdown()) << "close() does that";
  EXPECT_TRUE(connection_.ended());
}

TEST_F(StreamConnectionTest, PeerThatFinishesDoesNotEndASessionThatGoesOn) {
  connection_.peer_finished(now_);
  EXPECT_FALSE(connection_.ended());
  script_.outbox.append("later");
  EXPECT_EQ(output(), "later");
}

TEST_F(StreamConnectionTest, FinishedSessionShutsDownAndWaitsForThePeer) {
  script_.outbox.append("bye");
  script_.finished = true;
  EXPECT_FALSE(connection_.wants_shutdown()) << "there is output";
  connection_.sent(3, now_);
  EXPECT_TRUE(connection_.wants_shutdown());
  connection_.shut_down(now_);
  EXPECT_FALSE(connection_.wants_shutdown());
  EXPECT_FALSE(connection_.ended());
  connection_.peer_finished(now_);
  EXPECT_TRUE(connection_.ended());
  EXPECT_EQ(tally_.failures(), 0U);
}

TEST_F(StreamConnectionTest, ReadsAndThrowsAwayAfterTheEnd) {
  script_.finished = true;
  script_.want = Want::nothing;
  connection_.refresh(now_);
  connection_.shut_down(now_);
  EXPECT_TRUE(connection_.wants_input());
  receive("too late");
  EXPECT_TRUE(connection_.wants_input());
  EXPECT_EQ(script_.received, "");
}

TEST_F(StreamConnectionTest, LingersNoLongerThanTheLimit) {
  script_.finished = true;
  connection_.shut_down(now_);
  EXPECT_EQ(connection_.deadline(), kStart + limits_.linger);
  connection_.received(as_bytes("still sending"), now_ + milliseconds(999));
  connection_.on_time(now_ + milliseconds(999));
  EXPECT_FALSE(connection_.ended());
  connection_.on_time(now_ + limits_.linger);
  EXPECT_TRUE(connection_.ended());
  EXPECT_EQ(tally_.failures(), 0U) << "the peer was told everything";
}

TEST_F(StreamConnectionTest, IdleIsWithoutAByteEitherWay) {
  EXPECT_EQ(connection_.deadline(), kStart + seconds(60));
  connection_.received(as_bytes("x"), kStart + seconds(30));
  script_.outbox.append("reply");
  connection_.sent(2, kStart + seconds(50));
  EXPECT_EQ(connection_.deadline(), kStart + seconds(110));
  connection_.on_time(kStart + seconds(110) - Duration(1));
  EXPECT_FALSE(connection_.ended());
  connection_.on_time(kStart + seconds(110));
  EXPECT_TRUE(connection_.ended());
  EXPECT_EQ(tally_.failures(Stage::timeout), 1U);
  EXPECT_EQ(script_.told.back(), "failure: timeout");
}

TEST_F(StreamConnectionTest, SessionsDeadlineFiresNeverEarly) {
  script_.deadline = kStart + seconds(5);
  connection_.refresh(now_);
  EXPECT_EQ(connection_.deadline(), kStart + seconds(5));
  connection_.on_time(kStart + seconds(5) - Duration(1));
  EXPECT_EQ(script_.told, Told{"open"});
  connection_.on_time(kStart + seconds(5));
  EXPECT_EQ(script_.told, (Told{"open", "deadline"}));
  EXPECT_EQ(connection_.deadline(), kStart + seconds(65)) << "who works by its own clock is not idle";
}

TEST_F(StreamConnectionTest, FailureIsToldOnceAndIsTheEnd) {
  script_.outbox.append("never sent");
  connection_.failed({Stage::receive, ECONNRESET, {}}, now_);
  connection_.failed({Stage::send, EPIPE, {}}, now_);
  connection_.on_time(now_ + seconds(1000));
  connection_.drain(now_);
  connection_.refresh(now_);
  EXPECT_EQ(script_.told, (Told{"open", "failure: receive"}));
  EXPECT_TRUE(connection_.ended());
  EXPECT_FALSE(connection_.wants_input());
  EXPECT_FALSE(connection_.has_output());
  EXPECT_FALSE(connection_.wants_shutdown());
  EXPECT_EQ(tally_.failures(), 1U);
}

TEST_F(StreamConnectionTest, DrainIsPassedOn) {
  connection_.drain(now_);
  EXPECT_EQ(script_.told, (Told{"open", "drain"}));
}

// With room for few pieces the rest is shown after these have been sent.
TEST_F(StreamConnectionTest, ShowsAsManyPiecesAsThereIsRoomFor) {
  for (int i = 0; i < 5; ++i) script_.outbox.append(std::string(100'000, 'x'));
  iovec one{};
  EXPECT_EQ(connection_.output({&one, 1}, now_), 1U);
  EXPECT_EQ(one.iov_len, 100'000U);
}

}  // namespace
}  // namespace joust
