// SPDX-License-Identifier: MIT
#include "session/handler_session.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace joust {
namespace {

constexpr Time kNow = Time(std::chrono::seconds(1000));

constexpr Duration kSecond = std::chrono::seconds(1);

// "quit" is the peer's mistake; "big" is answered with half a mebibyte.
class TalkingHandler : public Handler {
 public:
  bool on_message(Bytes message, Writer& replies) override {
    const std::string_view text = as_text(message);
    replies.send(text == "big" ? std::string(512 << 10, 'x') : "re:" + std::string(text));
    return text != "quit";
  }
};

class HandlerSessionTest : public testing::Test {
 protected:
  std::size_t feed(std::string_view bytes) { return session_->on_bytes(as_bytes(bytes), kNow); }
  std::string take_output() {
    std::array<Segment, 16> segments;
    std::string all;
    for (std::size_t i = 0; i < session_->output(segments); ++i) all += as_text(segments[i].bytes);
    session_->consumed(all.size());
    session_->released(all.size());
    return all;
  }

  HandlerService service_{Line{.largest = 100}, [] { return std::make_unique<TalkingHandler>(); }};
  std::unique_ptr<Session> session_ = service_.open({});
};

TEST_F(HandlerSessionTest, AnswersEachMessageInOrder) {
  EXPECT_EQ(feed("one\ntwo\nthr"), 11U);
  EXPECT_EQ(take_output(), "re:one\nre:two\n");
  EXPECT_EQ(feed("ee\n"), 3U);
  EXPECT_EQ(take_output(), "re:three\n");
  EXPECT_FALSE(session_->finished());
}

TEST_F(HandlerSessionTest, StopsTakingWhileItsRepliesAreNotTaken) {
  const std::string requests = "big\nnext\n";
  EXPECT_EQ(feed(requests), 4U);
  EXPECT_EQ(session_->want(), Want::nothing);
  EXPECT_EQ(take_output().size(), (512U << 10) + 1);
  EXPECT_EQ(session_->want(), Want::bytes);
  EXPECT_EQ(feed("next\n"), 5U);
  EXPECT_EQ(take_output(), "re:next\n");
}

TEST_F(HandlerSessionTest, ReplyToAMistakeIsSentBeforeTheEnd) {
  EXPECT_EQ(feed("quit\nnot heard\n"), 5U);
  EXPECT_EQ(session_->want(), Want::nothing);
  EXPECT_TRUE(session_->finished());
  EXPECT_EQ(take_output(), "re:quit\n");
}

TEST_F(HandlerSessionTest, MalformedInputEndsIt) {
  feed("good\n" + std::string(200, 'x'));
  EXPECT_TRUE(session_->finished());
  EXPECT_EQ(session_->want(), Want::nothing);
  EXPECT_EQ(take_output(), "re:good\n");
  EXPECT_FALSE(session_->complaint().empty());
}

TEST_F(HandlerSessionTest, NothingIsWrongWithAnOrderlyEnd) {
  feed("good\n");
  session_->on_peer_finished(kNow);
  EXPECT_TRUE(session_->complaint().empty());
}

TEST_F(HandlerSessionTest, FinishesWhenThePeerDoes) {
  feed("last\n");
  session_->on_peer_finished(kNow);
  EXPECT_TRUE(session_->finished());
  EXPECT_EQ(take_output(), "re:last\n");
}

TEST_F(HandlerSessionTest, DrainBetweenMessagesFinishesAtOnce) {
  feed("before\n");
  session_->on_drain(kNow);
  EXPECT_TRUE(session_->finished());
  EXPECT_EQ(session_->want(), Want::nothing);
  EXPECT_EQ(take_output(), "re:before\n");
}

TEST_F(HandlerSessionTest, DrainInMidMessageAnswersThatOneOnly) {
  feed("beg");
  session_->on_drain(kNow);
  EXPECT_FALSE(session_->finished());
  EXPECT_EQ(session_->want(), Want::bytes);
  EXPECT_EQ(feed("un\nnot begun\n"), 3U);
  EXPECT_TRUE(session_->finished());
  EXPECT_EQ(take_output(), "re:begun\n");
}

// One byte every nine seconds: never idle, and never done.
// Has last words, and delays its replies.
class PoliteHandler : public TalkingHandler {
 public:
  explicit PoliteHandler(Duration delay) : delay_(delay) {}
  Duration delay() const override { return delay_; }
  void write_last(Writer& last) override { last.send("goodbye"); }

 private:
  const Duration delay_;
};

class LastWords : public HandlerSessionTest {
 protected:
  void open(Duration delay) {
    polite_ = std::make_unique<HandlerService>(Line{.largest = 100},
                                               [=] { return std::make_unique<PoliteHandler>(delay); });
    session_ = polite_->open({});
  }
  std::unique_ptr<HandlerService> polite_;
};

TEST_F(LastWords, ComeOnceAfterTheRepliesWhenItDrains) {
  open({});
  feed("one\ntw");
  session_->on_drain(kNow);
  EXPECT_EQ(take_output(), "re:one\n") << "the rest of a message is on its way";
  feed("o\n");
  session_->on_drain(kNow);
  EXPECT_EQ(take_output(), "re:two\ngoodbye\n");
  EXPECT_TRUE(session_->finished());
}

TEST_F(LastWords, WaitForRepliesThatAreNotDue) {
  open(kSecond);
  feed("one\n");
  session_->on_drain(kNow);
  EXPECT_EQ(take_output(), "");
  EXPECT_FALSE(session_->finished());
  session_->on_deadline(kNow + kSecond);
  EXPECT_EQ(take_output(), "re:one\ngoodbye\n");
  EXPECT_TRUE(session_->finished());
}

TEST_F(LastWords, AreNotForAPeerThatHasEnded) {
  open({});
  session_->on_peer_finished(kNow);
  session_->on_drain(kNow);
  EXPECT_EQ(take_output(), "");
  open({});
  feed("quit\n");
  session_->on_drain(kNow);
  EXPECT_EQ(take_output(), "re:quit\n") << "nor for one that was wrong";
}

TEST_F(HandlerSessionTest, EndsAPeerThatSendsAMessageByteByByte) {
  Time now = kNow;
  for (int i = 0; i < 20 && !session_->finished(); ++i) {
    EXPECT_EQ(session_->on_bytes(as_bytes("x"), now), 1U);
    now += std::chrono::seconds(9);
    if (const auto due = session_->deadline(); due && *due <= now) session_->on_deadline(now);
  }
  EXPECT_TRUE(session_->finished());
  EXPECT_EQ(session_->complaint(), "a message comes slower than 1.00 KiB/s for 10.0 s");
}

TEST_F(HandlerSessionTest, HasAllPatienceBetweenMessages) {
  feed("one\n");
  take_output();
  EXPECT_FALSE(session_->deadline());
}

TEST_F(HandlerSessionTest, WaitsForALargeMessageThatKeepsComing) {
  HandlerService service(Length4{}, [] { return std::make_unique<TalkingHandler>(); });
  session_ = service.open({});
  EXPECT_EQ(session_->on_bytes(as_bytes(std::string_view("\0\x01\0\0", 4)), kNow), 4U);
  Time now = kNow;
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(session_->on_bytes(as_bytes(std::string(10'240, 'x')), now), 10'240U);
    session_->on_deadline(now += std::chrono::seconds(10));
  }
  EXPECT_FALSE(session_->finished());
}

TEST_F(HandlerSessionTest, GivesUpAPeerThatReadsAReplyByteByByte) {
  feed("big\n");
  Time now = kNow;
  for (int i = 0; i < 20 && !session_->gives_up(); ++i) {
    session_->consumed(1);
    session_->released(1);
    now += std::chrono::seconds(9);
    if (const auto due = session_->deadline(); due && *due <= now) session_->on_deadline(now);
  }
  EXPECT_TRUE(session_->gives_up());
  EXPECT_EQ(session_->complaint(), "a reply is read slower than 1.00 KiB/s for 60.0 s");
}

// "3" is answered after three seconds, "-" is a mistake that has a name.
class SlowHandler : public Handler {
 public:
  bool on_message(Bytes message, Writer& replies) override {
    const std::string_view text = as_text(message);
    delay_ = text == "-" ? Duration{} : (text.front() - '0') * kSecond;
    replies.send(text);
    return text != "-";
  }
  Duration delay() const override { return delay_; }
  std::string_view complaint() const override { return "no number"; }

 private:
  Duration delay_{};
};

class DelayedReplies : public HandlerSessionTest {
 protected:
  DelayedReplies() { session_ = service_.open({}); }
  void at(int second) { now_ = kNow + second * kSecond; }
  std::size_t hear(std::string_view bytes) { return session_->on_bytes(as_bytes(bytes), now_); }
  void pass_to(int second) {
    at(second);
    while (session_->deadline().value_or(Time::max()) <= now_) session_->on_deadline(now_);
  }

  HandlerService service_{Line{.largest = 100}, [] { return std::make_unique<SlowHandler>(); }};
  Time now_ = kNow;
};

TEST_F(DelayedReplies, EachLeavesWhenItIsDue) {
  EXPECT_EQ(hear("2\n"), 2U);
  EXPECT_EQ(session_->want(), Want::bytes);  // others may come meanwhile
  EXPECT_EQ(session_->deadline(), kNow + 2 * kSecond);
  pass_to(1);
  EXPECT_EQ(hear("2\n"), 2U);
  EXPECT_EQ(take_output(), "");
  pass_to(2);
  EXPECT_EQ(take_output(), "2\n");
  EXPECT_EQ(session_->deadline(), kNow + 3 * kSecond);
  pass_to(3);
  EXPECT_EQ(take_output(), "2\n");
  EXPECT_FALSE(session_->deadline());
}

TEST_F(DelayedReplies, KeepTheOrderOfTheRequests) {
  hear("0\n3\n1\n0\n");
  EXPECT_EQ(take_output(), "0\n");
  pass_to(2);
  EXPECT_EQ(take_output(), "");
  pass_to(3);
  EXPECT_EQ(take_output(), "3\n1\n0\n");
}

TEST_F(DelayedReplies, AreSentBeforeTheEnd) {
  hear("1\n-\n");
  EXPECT_EQ(session_->complaint(), "no number");
  EXPECT_FALSE(session_->finished());
  EXPECT_EQ(session_->want(), Want::nothing);
  pass_to(1);
  EXPECT_TRUE(session_->finished());
  EXPECT_EQ(take_output(), "1\n-\n");
}

TEST_F(DelayedReplies, AreSentAfterThePeerHasFinishedAndAfterADrain) {
  for (const bool drained : {false, true}) {
    session_ = service_.open({});
    at(0);
    hear("1\n");
    drained ? session_->on_drain(now_) : session_->on_peer_finished(now_);
    EXPECT_FALSE(session_->finished());
    pass_to(1);
    EXPECT_TRUE(session_->finished());
    EXPECT_EQ(take_output(), "1\n");
  }
}

// A reply that is not due is none that the peer reads too slowly.
TEST_F(DelayedReplies, AreNotOwedToThePeerBefore) {
  for (int i = 0; i < 100; ++i) hear("9\n");
  for (int second = 1; second < 9; ++second) pass_to(second);
  for (int second = 9; second < 200; ++second) {
    pass_to(second);
    take_output();
    hear("9\n");
  }
  EXPECT_FALSE(session_->gives_up());
  EXPECT_EQ(session_->complaint(), "");
}

// Over a message transport each unit is one message, whatever the framing.
TEST_F(HandlerSessionTest, MessageTransportNeedsNoFraming) {
  session_ = service_.open({.delivery = {.kind = Delivery::Kind::message, .largest_message = 1000}});
  EXPECT_EQ(feed("one\ntwo"), 7U);
  EXPECT_EQ(take_output(), "re:one\ntwo");
}

// "7" occupies the thread for 7 ms.
class BusyHandler : public Handler {
 public:
  bool on_message(Bytes message, Writer& replies) override {
    spent_ = (as_text(message).front() - '0') * std::chrono::milliseconds(1);
    replies.send(message);
    return true;
  }
  Duration spent() const override { return spent_; }

 private:
  Duration spent_{};
};

class BusyReplies : public HandlerSessionTest {
 protected:
  BusyReplies() { session_ = service_.open({}); }

  HandlerService service_{Line{.largest = 100}, [] { return std::make_unique<BusyHandler>(); }};
};

TEST_F(BusyReplies, LeaveOthersTheirTurn) {
  EXPECT_EQ(feed("7\n7\n1\n"), 4U);
  EXPECT_EQ(session_->want(), Want::nothing);
  EXPECT_EQ(take_output(), "7\n7\n");
  const Time due = session_->deadline().value();
  EXPECT_EQ(due, kNow + std::chrono::milliseconds(14)) << "at once: so long the work has taken";
  session_->on_deadline(due);
  EXPECT_EQ(session_->want(), Want::bytes);
  EXPECT_EQ(feed("1\n"), 2U);
  EXPECT_EQ(take_output(), "1\n");
  EXPECT_FALSE(session_->deadline());
}

TEST_F(BusyReplies, DoNotPauseWhereNothingWaits) {
  EXPECT_EQ(feed("9\n9\n"), 4U);
  EXPECT_EQ(take_output(), "9\n9\n");
  EXPECT_EQ(session_->want(), Want::bytes);
  EXPECT_FALSE(session_->deadline());
}

TEST_F(BusyReplies, ComeForRequestsThatWaitedAtTheDrain) {
  EXPECT_EQ(feed("9\n9\n9\n"), 4U);
  session_->on_drain(kNow);
  EXPECT_FALSE(session_->finished());
  session_->on_deadline(session_->deadline().value());
  EXPECT_EQ(feed("9\n"), 2U);
  EXPECT_TRUE(session_->finished());
  EXPECT_EQ(take_output(), "9\n9\n9\n");
}

}  // namespace
}  // namespace joust
