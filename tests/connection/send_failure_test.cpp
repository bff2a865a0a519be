// SPDX-License-Identifier: MIT
//
// A send fails because the peer has gone. What it has sent before may be an answer that is still unread.
#include <gtest/gtest.h>

#include <cerrno>

#include "connection/scripted_connection.hpp"

namespace joust {
namespace {

using test::kStart;

class SendFailure : public test::ScriptedConnection {
 protected:
  void SetUp() override {
    script_.outbox.append("to a peer that has gone");
    connection_.send_failed(ECONNRESET, now_);
  }
  void expect_to_have_failed() {
    EXPECT_TRUE(connection_.ended());
    EXPECT_EQ(script_.told, (Told{"open", "failure: send"}));
    EXPECT_EQ(tally_.failures(Stage::send), 1U);
  }
};

TEST_F(SendFailure, WhatThePeerHasSentBeforeIsRead) {
  EXPECT_FALSE(connection_.ended());
  EXPECT_TRUE(connection_.wants_input());
  EXPECT_FALSE(connection_.has_output());
  EXPECT_EQ(output(), "");
  EXPECT_FALSE(connection_.wants_shutdown());
  receive("an answer");
  EXPECT_EQ(script_.received, "an answer");
  connection_.peer_finished(now_);
  expect_to_have_failed();
}

TEST_F(SendFailure, ASessionThatHasAllItWantsHasNotFailed) {
  receive("an answer");
  script_.gives_up = true;
  receive("and more");
  EXPECT_TRUE(connection_.ended());
  EXPECT_EQ(script_.told, Told{"open"});
  EXPECT_EQ(tally_.failures(), 0U);
}

TEST_F(SendFailure, NothingIsReadThatTheSessionDoesNotWant) {
  script_.takes_at_most = 2;
  receive("an answer");
  EXPECT_EQ(script_.received, "an");
  expect_to_have_failed();
}

TEST_F(SendFailure, AReadThatFailsIsTheEnd) {
  connection_.failed({Stage::receive, ECONNRESET, {}}, now_);
  EXPECT_TRUE(connection_.ended());
  EXPECT_EQ(tally_.failures(), 1U);
}

TEST_F(SendFailure, APeerThatHasNotGoneIsNotWaitedForLong) {
  EXPECT_EQ(connection_.deadline(), now_ + limits_.linger);
  now_ += limits_.linger;
  receive("still there");
  connection_.on_time(now_);
  expect_to_have_failed();
}

using OtherSendFailure = test::ScriptedConnection;

TEST_F(OtherSendFailure, EndsTheConnectionAtOnce) {
  connection_.send_failed(ENOBUFS, now_);
  EXPECT_TRUE(connection_.ended());
  EXPECT_EQ(tally_.failures(Stage::send), 1U);
}

TEST_F(OtherSendFailure, EndsItAtOnceWhereNothingIsWanted) {
  script_.want = Want::nothing;
  connection_.refresh(now_);
  connection_.send_failed(EPIPE, now_);
  EXPECT_TRUE(connection_.ended());
}

}  // namespace
}  // namespace joust
