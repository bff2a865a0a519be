// SPDX-License-Identifier: MIT
//
// A room on every engine: members join and leave, fail in the middle of a frame or never read, and the others
// get every message once and in order.
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <system_error>

#include "base/bytes.hpp"
#include "conformance/running.hpp"
#include "figure.hpp"
#include "load/run.hpp"
#include "protocols/table.hpp"

namespace joust::conformance {
namespace {

class BroadcastOn : public CommonSessionsTest {};
JOUST_EVERY_ENGINE_EACH_CHOICE(BroadcastOn, Role::serve);

// Separate, because it takes 2 s and tests mostly the room.
class EvictionOn : public CommonSessionsTest {};
JOUST_EVERY_ENGINE_AS_IT_COMES(EvictionOn, Role::serve);

const Protocol& broadcast() {
  static const std::vector<Protocol> all = builtin_protocols();
  return *std::ranges::find(all, "broadcast", &Protocol::name);
}

std::unique_ptr<Service> room(const std::string& option = "flush", const std::string& value = "batch") {
  Parameters parameters = standard_parameters(broadcast(), Role::serve);
  parameters.options[option] = value;
  return broadcast().make_server(parameters);
}

constexpr char kJoin = 1, kWelcome = 2, kMessage = 4;

// A frame as described at the top of protocols/broadcast/protocol.cpp.
std::string frame(char kind, std::uint32_t member, std::uint64_t number, std::string_view payload = {}) {
  std::string text(17, '\0');
  auto* const bytes = reinterpret_cast<std::byte*>(text.data());
  write_big_endian(static_cast<std::uint32_t>(13 + payload.size()), bytes);
  text[4] = kind;
  write_big_endian(member, bytes + 5);
  write_big_endian(number, bytes + 9);
  return text.append(payload);
}

Peer join(const Server& server, std::uint32_t member, int buffers = 0) {
  Peer peer(server.endpoint(), buffers);
  peer.send(frame(kJoin, member, 0));
  EXPECT_EQ(peer.receive(17), frame(kWelcome, member, 0));
  return peer;
}

// True if the room accepts a member with that number.
bool may_join(const Server& server, std::uint32_t member) {
  Peer peer(server.endpoint());
  peer.send(frame(kJoin, member, 0));
  return peer.receive(17).at(4) == kWelcome;
}

// Runs a load in which every connection sends the plan's number of messages, and checks its result.
void run_load(const Variant& variant, Server& server, const LoadPlan& plan) {
  LoadRun load(plan);
  const auto members = broadcast().make_client(standard_parameters(broadcast(), Role::dial), load);
  {
    Dialling dialling(variant, *members, {server.endpoint()}, plan.connections);
    dialling.run().wait();
  }
  for (const std::string& complaint : load.complaints()) ADD_FAILURE() << complaint;
  const std::uint64_t expected = plan.connections * plan.connections * *plan.messages;
  const std::size_t frame_bytes = frame(kMessage, 0, 0).size() + Parameters{}.payload;
  EXPECT_EQ(load.recorder().counts().bytes_sent, plan.connections * *plan.messages * frame_bytes);
  EXPECT_EQ(load.recorder().counts().verified, plan.connections * *plan.messages);
  EXPECT_EQ(test::figure(*members, "expected"), expected);
  EXPECT_EQ(test::figure(*members, "received"), expected);
  EXPECT_EQ(test::figure(*members, "lost"), 0U);
}

const Variant& plain_epoll() {
  static const std::vector<Variant> all = variants(Role::dial, Settings::defaults);
  return *std::ranges::find(all, "epoll", &Variant::name);
}

TEST_P(BroadcastOn, EveryMemberGetsEveryMessage) {
  const auto service = room();
  Server server(GetParam(), *service);
  run_load(plain_epoll(), server, {.connections = 60, .messages = 20, .request_timeout = kPatience});
}

// The messages of a failed member never arrive: the others must not wait for them until the timeout.
TEST_P(BroadcastOn, AMemberThatIsPutOutDoesNotTakeTheOthersAlong) {
  const auto service = room();
  Server server(GetParam(), *service);
  const Peer impostor = join(server, 3);  // takes number 3, so that the room refuses the load's member 3
  LoadRun load({.connections = 10, .messages = 5, .request_timeout = kPatience});
  const auto members = broadcast().make_client(standard_parameters(broadcast(), Role::dial), load);
  Dialling dialling(plain_epoll(), *members, {server.endpoint()}, 10);
  dialling.run().wait();
  EXPECT_EQ(load.failures(Stage::verify), 1U);
  EXPECT_EQ(load.failures(Stage::timeout), 0U);
  EXPECT_EQ(load.recorder().counts().verified, 9U * 5);
}

TEST_P(BroadcastOn, EveryMemberGetsEveryMessageAlone) {
  const auto service = room("flush", "each");
  Server server(GetParam(), *service);
  run_load(plain_epoll(), server, {.connections = 30, .messages = 10, .request_timeout = kPatience});
}

TEST_P(BroadcastOn, PassesFramesOnAsTheyCame) {
  const auto service = room();
  Server server(GetParam(), *service);
  Peer alice = join(server, 1);
  Peer bob = join(server, 2);
  const std::string said = frame(kMessage, 1, 0, "hello") + frame(kMessage, 1, 1, "");
  for (const char byte : said) alice.send({&byte, 1});
  EXPECT_EQ(bob.receive(said.size()), said);
  EXPECT_EQ(alice.receive(said.size()), said);
}

TEST_P(BroadcastOn, WhoLiesAboutItselfIsPutOut) {
  const auto service = room();
  Server server(GetParam(), *service);
  Peer alice = join(server, 1);
  Peer liar = join(server, 2);
  liar.send(frame(kMessage, 1, 0, "I am alice"));
  EXPECT_EQ(liar.receive_to_end(), "");
  Peer stranger(server.endpoint());
  stranger.send(frame(kMessage, 7, 0, "not joined"));
  EXPECT_EQ(stranger.receive_to_end(), "");
  Peer second(server.endpoint());
  second.send(frame(kJoin, 1, 0));  // the number is taken
  EXPECT_EQ(second.receive_to_end().at(4), 3);
  EXPECT_FALSE(alice.hears_within(std::chrono::milliseconds(10)));
}

TEST_P(BroadcastOn, PublisherThatDiesInMidFrameIsNotHeard) {
  const auto service = room();
  Server server(GetParam(), *service);
  Peer listener = join(server, 1);
  {
    Peer dying = join(server, 2);
    dying.send(frame(kMessage, 2, 0, "whole") + frame(kMessage, 2, 1, "only a part").substr(0, 20));
    EXPECT_EQ(listener.receive(22), frame(kMessage, 2, 0, "whole"));
    dying.reset();
  }
  listener.send(frame(kMessage, 1, 0, "and on"));
  EXPECT_EQ(listener.receive(23), frame(kMessage, 1, 0, "and on"));
}

// The room keeps 1 MiB for the member, and its socket buffers are small: it is evicted without effect on the
// others.
TEST_P(EvictionOn, MemberThatNeverReadsIsEvicted) {
  const auto service = room("room-bytes", "1MiB");
  Server server(GetParam(), *service, {.socket = {.send_buffer = 16 << 10}});
  Peer deaf = join(server, 1, 16 << 10);
  Peer talker = join(server, 2);
  const std::string message = frame(kMessage, 2, 0, std::string(60'000, 'm'));
  for (int i = 0; i < 60; ++i) {
    talker.send(message);
    ASSERT_EQ(talker.receive(message.size()), message);
  }
  EXPECT_EQ(test::figure(*service, "evicted"), 1U);
  const auto give_up = Clock::now() + kPatience;
  while (!may_join(server, 1)) ASSERT_LT(Clock::now(), give_up) << "its place is still taken";
  try {
    EXPECT_LT(deaf.receive_to_end().size(), 60 * message.size());
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code().value(), ECONNRESET);
  }
}

TEST_P(BroadcastOn, MembersComeAndGoWhileOthersTalk) {
  const auto service = room();
  Server server(GetParam(), *service);
  std::atomic<bool> over{false};
  auto fickle = std::async(std::launch::async, [&] {
    for (std::uint32_t member = 1000; !over; ++member) {
      Peer peer = join(server, member);
      if (member % 3 == 0) peer.reset();
    }
  });
  run_load(plain_epoll(), server, {.connections = 20, .messages = 100, .request_timeout = kPatience});
  over = true;
  fickle.get();
}

TEST_P(BroadcastOn, StopsInTheMiddleOfTalk) {
  const auto service = room();
  Server server(GetParam(), *service);
  Peer talker = join(server, 1);
  talker.send(frame(kMessage, 1, 0, "last words"));
  EXPECT_EQ(talker.receive(27), frame(kMessage, 1, 0, "last words"));
  server.stop();
  EXPECT_EQ(talker.receive_to_end(), "");
}

}  // namespace
}  // namespace joust::conformance
