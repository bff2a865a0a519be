// SPDX-License-Identifier: MIT
//
// A room whose members are joined to it by links that lose, repeat and reorder messages.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <tuple>

#include "base/sequence_window.hpp"
#include "message/lossy_network.hpp"
#include "protocols/broadcast/protocol.hpp"

namespace joust::broadcast {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// The messages of the room as they arrive at members.
class Deliveries {
 public:
  explicit Deliveries(LossyNetwork& network) {
    network.observe([this](std::size_t member, Bytes message) {
      const auto frame = parse(message);
      if (frame->kind != Kind::message) return;
      ++count_;
      different_.emplace(member, frame->member, frame->number);
    });
  }
  std::uint64_t different() const { return different_.size(); }
  std::uint64_t again() const { return count_ - different_.size(); }

 private:
  std::uint64_t count_ = 0;
  std::set<std::tuple<std::size_t, std::uint32_t, std::uint64_t>> different_;
};

TEST(BroadcastOverLossyLinks, EveryDeliveryIsCountedExactly) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    LossyNetwork network(
        {.protocol = "broadcast",
         .plan = {.connections = 8, .messages = 50, .depth = 3},
         .faults = {.lost = 200, .duplicated = 100, .reordered = 200, .delay = milliseconds(1)},
         .seed = seed});
    const Deliveries deliveries(network);
    ASSERT_TRUE(network.pass(minutes(30)));
    EXPECT_EQ(network.run.connections_failed(), 0U);
    const Recorder::Counts counts = network.counts();
    EXPECT_EQ(counts.sent, 400U);
    EXPECT_EQ(counts.sent, counts.verified + counts.lost);
    network.end_sessions();
    EXPECT_EQ(network.figure("expected"), 8U * 400);
    EXPECT_EQ(network.figure("received"), deliveries.different());
    EXPECT_EQ(network.figure("lost"), 8 * 400 - deliveries.different());
    EXPECT_EQ(network.figure("duplicated"), deliveries.again());
    EXPECT_GT(network.figure("lost"), 500U);
    EXPECT_GT(network.figure("duplicated"), 100U);
    EXPECT_GT(network.figure("out_of_order"), 100U);
  }
}

TEST(BroadcastOverLossyLinks, GoodLinksLoseNothingAndNobodyWaits) {
  LossyNetwork network({.protocol = "broadcast",
                        .plan = {.connections = 5, .messages = 20},
                        .faults = {.delay = milliseconds(1)}});
  EXPECT_TRUE(network.pass(milliseconds(100)));
  network.end_sessions();
  EXPECT_EQ(network.figure("received"), 500U);
  EXPECT_EQ(network.figure("lost") + network.figure("duplicated") + network.figure("out_of_order"), 0U);
}

TEST(BroadcastOverLossyLinks, AJoinIsRepeatedUntilItIsAnswered) {
  LossyNetwork network(
      {.protocol = "broadcast", .plan = {.connections = 2, .messages = 5}, .faults = {.lost = 1000}});
  EXPECT_FALSE(network.pass(seconds(5)));
  EXPECT_FALSE(network.run.start().has_value());
  network.change({.delay = milliseconds(1)});
  EXPECT_TRUE(network.pass(milliseconds(300)));
  EXPECT_EQ(network.counts().verified, 10U);
  EXPECT_EQ(network.run.connections_failed(), 0U);
}

TEST(BroadcastOverLossyLinks, ARoomThatNeverAnswersIsGivenUp) {
  LossyNetwork network(
      {.protocol = "broadcast", .plan = {.connections = 2, .messages = 5}, .faults = {.lost = 1000}});
  EXPECT_FALSE(network.pass(milliseconds(9'900)));
  EXPECT_TRUE(network.pass(milliseconds(200)));
  EXPECT_EQ(network.run.failures(Stage::timeout), 2U);
}

TEST(BroadcastOverLossyLinks, AMemberThatLeavesWithoutAWordEndsNoTurnOfOthers) {
  LossyNetwork network({.protocol = "broadcast",
                        .plan = {.connections = 4, .depth = 2, .turns = true},
                        .faults = {.lost = 100, .delay = milliseconds(1)}});
  std::size_t rested = 0;
  network.run.observe(
      [&](LoadRun::Milestone milestone) { rested += milestone == LoadRun::Milestone::rested; });
  network.pass(seconds(3));
  for (std::size_t turn = 1; turn <= 3; ++turn) {
    network.run.begin_turn(network.now(), milliseconds(20), milliseconds(5));
    network.pass(seconds(10));
    EXPECT_EQ(rested, turn);
  }
  EXPECT_EQ(network.run.connections_failed(), 0U);
}

RC_GTEST_PROP(BroadcastOverLossyLinks, NobodyHangsAndEveryDeliveryIsCounted, ()) {
  const auto of_thousand = [](unsigned most) { return *rc::gen::inRange(0U, most + 1); };
  const LossyLink::Faults faults{.lost = of_thousand(400),
                                 .duplicated = of_thousand(300),
                                 .reordered = of_thousand(300),
                                 .delay = milliseconds(*rc::gen::inRange(1, 20))};
  const LoadPlan plan{.connections = *rc::gen::inRange<std::size_t>(1, 6),
                      .messages = *rc::gen::inRange<std::uint64_t>(1, 20),
                      .depth = *rc::gen::inRange<std::uint64_t>(1, 5),
                      .request_timeout = milliseconds(*rc::gen::inRange(50, 500))};
  LossyNetwork network({.protocol = "broadcast",
                        .plan = plan,
                        .faults = faults,
                        .seed = *rc::gen::arbitrary<std::uint64_t>()});
  const Deliveries deliveries(network);
  RC_ASSERT(network.pass(minutes(10)));
  RC_ASSERT(network.run.connections_failed() == 0U);
  network.end_sessions();
  RC_ASSERT(network.figure("expected") == plan.connections * plan.connections * *plan.messages);
  RC_ASSERT(network.figure("received") == deliveries.different());
  RC_ASSERT(network.figure("lost") == network.figure("expected") - deliveries.different());
  RC_ASSERT(network.figure("duplicated") == deliveries.again());
}

RC_GTEST_PROP(SequenceWindow, KnowsEachNumberOfTheNewest64, ()) {
  using Window = SequenceWindow<64>;
  Window window;
  std::set<std::uint64_t> come;
  for (const auto number :
       *rc::gen::container<std::vector<std::uint64_t>>(rc::gen::inRange<std::uint64_t>(0, 200))) {
    const bool newest = come.empty() || number > *come.rbegin();
    const bool old = !newest && *come.rbegin() - number >= 64;
    const auto expected = newest                         ? Window::Order::in_order
                          : old || come.contains(number) ? Window::Order::repeated
                                                         : Window::Order::out_of_order;
    RC_ASSERT(window.arrived(number) == expected);
    come.insert(number);
  }
}

// What a session shows, taken off its hands.
std::vector<std::string> taken(Session& session) {
  std::array<Segment, 8> messages;
  std::vector<std::string> all;
  while (const std::size_t count = session.output(messages)) {
    std::size_t bytes = 0;
    for (const Segment& message : std::span(messages).first(count)) {
      all.emplace_back(as_text(message.bytes));
      bytes += message.bytes.size();
    }
    session.consumed(bytes);
    session.released(bytes);
  }
  return all;
}

std::string message_of(const Frame& frame) {
  Outbox outbox;
  const Framing none = Raw{};  // borrowed by the writer
  Writer writer(none, outbox);
  write(frame, writer);
  Segment all;
  outbox.segments({&all, 1});
  return std::string(as_text(all.bytes));
}

// A datagram holds thousands of packed joins.
TEST(BroadcastOverLossyLinks, AFloodOfJoinsGetsOneWelcome) {
  const Time now(std::chrono::hours(1));
  LossyNetwork network({.protocol = "broadcast", .plan = {.connections = 0}});  // for its service
  const auto member = network.server_service().open({kLossyDelivery});
  member->on_open(now);
  const std::string join = message_of({.kind = Kind::join, .member = 1, .payload = {}});
  const std::string welcome = message_of({.kind = Kind::welcome, .member = 1, .payload = {}});
  for (int flood = 0; flood < 2; ++flood) {
    for (int i = 0; i < 5'000; ++i) ASSERT_EQ(member->on_bytes(as_bytes(join), now), join.size());
    EXPECT_EQ(taken(*member), std::vector<std::string>{welcome}) << "one for each time that it is sent";
  }
}

TEST(BroadcastGroup, GetsTheLogOnceAndMembersGetOnlyTheirAnswers) {
  const Time now(std::chrono::hours(1));
  LossyNetwork network({.protocol = "broadcast", .plan = {.connections = 0}});  // for its service
  Service& room = network.server_service();
  const auto group = room.open_group(kLossyDelivery);
  ASSERT_NE(group, nullptr);
  EXPECT_EQ(group->want(), Want::nothing);
  const std::string welcome = message_of({.kind = Kind::welcome, .member = 1, .payload = {}});
  const std::string hello = message_of({Kind::message, 1, 0, as_bytes("hello")});
  const std::string again = message_of({Kind::message, 1, 1, as_bytes("again")});
  const auto member = room.open({kLossyDelivery});
  member->on_open(now);
  for (const std::string& message :
       {message_of({.kind = Kind::join, .member = 1, .payload = {}}), hello, again})
    EXPECT_EQ(member->on_bytes(as_bytes(message), now), message.size());
  EXPECT_EQ(taken(*member), std::vector<std::string>{welcome});
  EXPECT_EQ(taken(*group), (std::vector<std::string>{hello, again}));
  group->on_drain(now);
  member->on_bytes(as_bytes(hello), now);
  EXPECT_TRUE(group->finished());
  EXPECT_TRUE(taken(*group).empty());
}

TEST(BroadcastGroup, IsNothingForOtherProtocols) {
  LossyNetwork network({.protocol = "echo", .plan = {.connections = 0}});
  EXPECT_EQ(network.server_service().open_group(kLossyDelivery), nullptr);
}

}  // namespace
}  // namespace joust::broadcast
