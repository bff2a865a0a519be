// SPDX-License-Identifier: MIT
//
// The dialling role: every connection is either open and served to its end, or reported as failed with its
// stage.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "base/check.hpp"
#include "conformance/asking.hpp"
#include "conformance/running.hpp"

namespace joust::conformance {
namespace {

class DialTo : public EngineTest {};
JOUST_EVERY_ENGINE_EACH_CHOICE(DialTo, Role::dial);

// A second loop that begins when no descriptors are left could not.
struct DialFromOneLoop : DialTo {
  static bool applies(const Variant& variant) { return variant.options.threads <= 1; }
};
JOUST_EVERY_ENGINE_EACH_CHOICE(DialFromOneLoop, Role::dial);

using Manner = Counterpart::Manner;

// A bound port without a listener.
class Refusing {
 public:
  Refusing() : socket_(checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket()")) {
    endpoint_ = endpoint_of("127.0.0.1:0");
    checked(::bind(socket_.get(), endpoint_.raw(), endpoint_.size), "bind()");
    checked(::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&endpoint_.storage), &endpoint_.size),
            "getsockname()");
  }
  const Endpoint& endpoint() const { return endpoint_; }

 protected:
  Fd socket_;
  Endpoint endpoint_;
};

// A port whose accept queue is full: the kernel answers no further connect.
class Unanswering : public Refusing {
 public:
  Unanswering() {
    checked(::listen(socket_.get(), 0), "listen()");
    for (int i = 0; i < 3; ++i) queued_.push_back(begin_connect(endpoint_));
  }

 private:
  std::vector<Fd> queued_;
};

void expect_all_answered(const AskingService& asking, unsigned connections, unsigned requests) {
  EXPECT_EQ(asking.opened, connections);
  EXPECT_EQ(asking.answered, connections * requests);
  EXPECT_EQ(asking.wrong + asking.cut_short + asking.failed + asking.timed_out, 0U);
  EXPECT_TRUE(asking.refusals().empty());
}

TEST_P(DialTo, AServerThatAnswersInPieces) {
  for (const std::string& address : {std::string("127.0.0.1:0"), unix_address()}) {
    const Counterpart server(Manner::in_pieces, address);
    AskingService asking({.requests = 10});
    Dialling dialling(GetParam(), asking, {server.endpoint()}, 20);
    dialling.run().wait();
    expect_all_answered(asking, 20, 10);
    EXPECT_EQ(dialling.tally().failures(), 0U);
  }
}

TEST_P(DialTo, AServerByFewConnectsAtOnce) {
  checks(Duty::dialling);
  Limits limits = brisk();
  limits.dials_at_once = 3;
  const Counterpart server(Manner::in_pieces);
  AskingService asking({});
  Dialling dialling(GetParam(), asking, {server.endpoint()}, 50, limits);
  dialling.run().wait();
  expect_all_answered(asking, 50, 1);
}

TEST_P(DialTo, AServerThatResets) {
  const Counterpart server(Manner::resets);
  AskingService asking({});
  Dialling dialling(GetParam(), asking, {server.endpoint()}, 20);
  dialling.run().wait();
  const bool told_apart = GetParam().engine->resets_are_ends.empty();
  EXPECT_EQ(told_apart ? asking.failed : asking.cut_short, 20U);
  EXPECT_EQ(asking.answered, 0U);
  EXPECT_EQ(dialling.tally().failures(), told_apart ? 20U : 0U);
}

TEST_P(DialTo, AServerThatLeavesInMidReply) {
  const Counterpart server(Manner::leaves);
  AskingService asking({});
  Dialling dialling(GetParam(), asking, {server.endpoint()}, 20);
  dialling.run().wait();
  EXPECT_EQ(asking.cut_short, 20U);
  EXPECT_EQ(asking.failed, 0U);
}

TEST_P(DialTo, AServerThatNeverAnswersFiresTheDeadline) {
  checks(Duty::deadlines);
  const Counterpart server(Manner::silent);
  AskingService asking({.deadline = std::chrono::milliseconds(50)});
  Dialling dialling(GetParam(), asking, {server.endpoint()}, 20);
  dialling.run().wait();
  EXPECT_EQ(asking.timed_out, 20U);
  EXPECT_EQ(asking.told_early, 0U);
}

TEST_P(DialTo, NobodyThere) {
  checks(Duty::dialling);
  const Refusing nobody;
  AskingService asking({});
  Dialling dialling(GetParam(), asking, {nobody.endpoint()}, 20);
  dialling.run().wait();
  ASSERT_EQ(asking.refusals().size(), 20U);
  for (const Failure& refusal : asking.refusals()) {
    EXPECT_EQ(refusal.stage, Stage::connect);
    EXPECT_EQ(refusal.error, ECONNREFUSED);
    EXPECT_EQ(refusal.detail, to_text(nobody.endpoint()));
  }
  EXPECT_EQ(asking.opened, 0U);
  EXPECT_EQ(dialling.tally().failures(Stage::connect), 20U);
  EXPECT_EQ(dialling.tally().opened, 0U);
}

// These dials succeed without a wait, so no later event wakes the loop.
TEST_P(DialTo, AUnixSocketThatAcceptsAtOnce) {
  checks(Duty::dialling);
  Limits limits = brisk();
  limits.connect = kPatience * 2;
  const Counterpart server(Manner::in_pieces, unix_address());
  AskingService asking({});
  Dialling dialling(GetParam(), asking, {server.endpoint()}, 3, limits);
  dialling.run().wait();
  expect_all_answered(asking, 3, 1);
}

// These dials fail without a wait, so no later event wakes the loop.
TEST_P(DialTo, AUnixSocketThatIsNotThere) {
  Limits limits = brisk();
  limits.connect = kPatience * 2;
  AskingService asking({});
  Dialling dialling(GetParam(), asking, {endpoint_of(unix_address())}, 3, limits);
  dialling.run().wait();
  ASSERT_EQ(asking.refusals().size(), 3U);
  EXPECT_EQ(asking.refusals().front().stage, Stage::connect);
  EXPECT_EQ(asking.refusals().front().error, ENOENT);
}

// The listener exists, but has not accepted yet.
TEST_P(DialTo, AUnixSocketWhoseQueueIsFull) {
  checks(Duty::dialling);
  const Listener listener(endpoint_of(unix_address()), {.backlog = 1});
  std::vector<Fd> queued;
  for (int i = 0; i < 2; ++i) queued.push_back(begin_connect(listener.endpoint()));
  AskingService asking({});
  Dialling dialling(GetParam(), asking, {listener.endpoint()}, 5);
  EXPECT_FALSE(dialling.run().over_within(std::chrono::milliseconds(30)));
  while (!dialling.run().over_within(std::chrono::milliseconds(1))) listener.accept(0);
  EXPECT_EQ(asking.opened, 5U);
  EXPECT_TRUE(asking.refusals().empty());
}

TEST_P(DialTo, AnAddressThisMachineCannotReach) {
  Endpoint unheard_of;
  unheard_of.storage.ss_family = AF_MAX;
  unheard_of.size = sizeof(sockaddr);
  AskingService asking({});
  Dialling dialling(GetParam(), asking, {unheard_of}, 3);
  dialling.run().wait();
  ASSERT_EQ(asking.refusals().size(), 3U);
  EXPECT_EQ(asking.refusals().front().stage, Stage::connect);
  EXPECT_EQ(asking.refusals().front().error, EAFNOSUPPORT);
}

TEST_P(DialTo, AMachineThatDoesNotAnswer) {
  checks(Duty::dialling);
  Limits limits = brisk();
  limits.connect = std::chrono::milliseconds(50);
  const Unanswering nobody;
  AskingService asking({});
  Dialling dialling(GetParam(), asking, {nobody.endpoint()}, 5, limits);
  dialling.run().wait();
  ASSERT_EQ(asking.refusals().size(), 5U);
  for (const Failure& refusal : asking.refusals()) {
    EXPECT_EQ(refusal.stage, Stage::connect);
    EXPECT_EQ(refusal.error, ETIMEDOUT);
  }
}

// A listening unix socket that does not accept yet; its queue has room for one connection.
class BusyUnixSocket {
 public:
  BusyUnixSocket()
      : endpoint_(endpoint_of(unix_address())), listener_(endpoint_, {.backlog = 0}), first_(endpoint_) {}
  const Endpoint& endpoint() const { return endpoint_; }

  // Accepts all connections, and then replies to each of `questions` with the same bytes.
  void answer(unsigned questions) {
    std::vector<Peer> peers;
    const Time give_up = Clock::now() + kPatience;
    while (peers.size() < questions + 1) {
      if (Clock::now() > give_up) throw std::runtime_error("not everyone connects");
      Accepted next = listener_.accept(0);
      if (next.outcome == AcceptOutcome::accepted)
        peers.emplace_back(std::move(next.socket));
      else
        std::this_thread::yield();
    }
    for (Peer& peer : std::span(peers).subspan(1)) peer.send(peer.receive_some(1000));
  }

 private:
  Endpoint endpoint_;
  Listener listener_;
  Peer first_;
};

TEST_P(DialTo, AUnixSocketThatIsBusyForAWhile) {
  BusyUnixSocket server;
  AskingService asking({});
  Dialling dialling(GetParam(), asking, {server.endpoint()}, 10);
  EXPECT_FALSE(dialling.run().over_within(std::chrono::milliseconds(30)));
  EXPECT_TRUE(asking.refusals().empty());
  server.answer(10);
  dialling.run().wait();
  expect_all_answered(asking, 10, 1);
  EXPECT_EQ(dialling.tally().failures(), 0U);
}

TEST_P(DialTo, AUnixSocketThatStaysBusy) {
  Limits limits = brisk();
  limits.connect = std::chrono::milliseconds(50);
  const BusyUnixSocket server;
  AskingService asking({});
  const Time begin = Clock::now();
  Dialling dialling(GetParam(), asking, {server.endpoint()}, 5, limits);
  dialling.run().wait();
  EXPECT_GE(Clock::now() - begin, limits.connect);
  ASSERT_EQ(asking.refusals().size(), 5U);
  for (const Failure& refusal : asking.refusals()) {
    EXPECT_EQ(refusal.stage, Stage::connect);
    EXPECT_EQ(refusal.error, ETIMEDOUT);
  }
}

TEST_P(DialTo, TheNextEndpointWhenOneRefuses) {
  checks(Duty::dialling);
  Limits limits = brisk();
  limits.connect = std::chrono::milliseconds(500);  // the last endpoint must accept within this time
  const Refusing refusing;
  const Unanswering unanswering;
  const Counterpart server(Manner::in_pieces);
  AskingService asking({});
  Dialling dialling(GetParam(), asking, {refusing.endpoint(), unanswering.endpoint(), server.endpoint()}, 10,
                    limits);
  dialling.run().wait();
  expect_all_answered(asking, 10, 1);
  EXPECT_EQ(dialling.tally().failures(), 0U);
}

// The server cannot accept these for lack of descriptors; the deadline ends them. A thread or an event loop
// that gets no descriptor is a fault of this side.
TEST_P(DialFromOneLoop, ToMoreThanThereAreDescriptorsFor) {
  const Counterpart server(Manner::in_pieces);
  AskingService asking({.deadline = std::chrono::milliseconds(100)});
  const FewDescriptors few;
  Dialling dialling(GetParam(), asking, {server.endpoint()}, 400);
  dialling.run().wait();
  EXPECT_EQ(asking.opened + asking.refusals().size(), 400U);
  EXPECT_EQ(asking.opened, asking.answered + asking.failed + asking.cut_short + asking.timed_out);
  for (const Failure& refusal : asking.refusals()) {
    const bool is_short_here =
        refusal.stage == Stage::local && (refusal.error == EMFILE || refusal.error == EAGAIN);
    EXPECT_TRUE(refusal.stage == Stage::connect || is_short_here)
        << stage_name(refusal.stage) << ", error " << refusal.error << ": " << refusal.detail;
  }
}

TEST_P(DialTo, StoppedWhileConnecting) {
  const Unanswering nobody;
  AskingService asking({});
  Dialling dialling(GetParam(), asking, {nobody.endpoint()}, 10);
  EXPECT_FALSE(dialling.run().over_within(std::chrono::milliseconds(10)));
  dialling.run().stop().request();
  dialling.run().wait();
  EXPECT_EQ(asking.opened, 0U);
}

TEST_P(DialTo, StoppedInMidTraffic) {
  for (int i = 0; i < 10; ++i) {
    const Counterpart server(Manner::in_pieces);
    AskingService asking({.requests = 1'000'000'000});
    Dialling dialling(GetParam(), asking, {server.endpoint()}, 10);
    dialling.run().over_within(std::chrono::milliseconds(i));
    dialling.run().stop().request();
    dialling.run().wait();
    EXPECT_EQ(asking.wrong + asking.failed, 0U);
  }
}

}  // namespace
}  // namespace joust::conformance
