// SPDX-License-Identifier: MIT
//
// Engines that send to a group of multicast: what is for all goes there once, and members take nothing from
// others.
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "conformance/group_sockets.hpp"
#include "conformance/message_peer.hpp"
#include "conformance/running.hpp"
#include "connection/message_connection.hpp"
#include "engines/udp/peer.hpp"
#include "session/listening.hpp"

namespace joust::conformance {
namespace {

using std::chrono::milliseconds;

// Repeats what anybody says for all, by the group alone. As a client's service it only listens.
class Repeater : public Service {
 public:
  std::unique_ptr<Session> open(const ConnectionInfo& info) override;
  std::unique_ptr<Session> open_group(const Delivery& delivery) override;
  Publications* publications() override { return &publications_; }

  void say(Bytes message) {
    const std::lock_guard lock(mutex_);
    said_.emplace_back(as_text(message));
  }
  std::vector<std::string> said() const {
    const std::lock_guard lock(mutex_);
    return said_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> said_;
  Publications publications_;
};

class Member : public test::Listening {
 public:
  explicit Member(Repeater& all) : all_(all) {}
  std::size_t on_bytes(Bytes chunk, Time /*now*/) override {
    all_.say(chunk);
    all_.publications()->announce();
    return chunk.size();
  }

 private:
  Repeater& all_;
};

// Sends what was said, one message after another; "give up" makes it do that.
class ForAll : public Session {
 public:
  explicit ForAll(Repeater& all) : all_(all) {}
  std::size_t on_bytes(Bytes chunk, Time /*now*/) override { return chunk.size(); }
  void on_published(Time /*now*/) override {
    for (const std::vector<std::string> said = all_.said(); taken_ < said.size(); ++taken_)
      waiting_.push_back(said[taken_]);
  }
  void on_drain(Time /*now*/) override { finished_ = true; }
  std::size_t output(std::span<Segment> into) const override {
    std::size_t count = 0;
    for (; count < std::min(into.size(), waiting_.size()); ++count)
      into[count].bytes = as_bytes(waiting_[count]);
    return count;
  }
  bool finished() const override { return finished_; }
  bool gives_up() const override { return !waiting_.empty() && waiting_.back() == "give up"; }
  void consumed(std::size_t n) override {
    for (; n > 0; waiting_.pop_front()) {
      n -= waiting_.front().size();
      sent_.push_back(waiting_.front());
    }
  }
  void released(std::size_t /*n*/) override {}

 private:
  Repeater& all_;
  std::deque<std::string> waiting_, sent_;
  std::size_t taken_ = 0;
  bool finished_ = false;
};

std::unique_ptr<Session> Repeater::open(const ConnectionInfo& /*info*/) {
  return std::make_unique<Member>(*this);
}
std::unique_ptr<Session> Repeater::open_group(const Delivery& /*delivery*/) {
  return std::make_unique<ForAll>(*this);
}

class MessageGroups : public EngineTest {
 public:
  static bool applies(const Variant& variant) { return sends_to_group(variant); }
};
JOUST_EVERY_MESSAGE_ENGINE(MessageGroups, Role::serve);

// A datagram of the group, as a member's socket has received it.
struct OfGroup {
  std::vector<std::byte> bytes;
  Endpoint from;
  Datagram datagram() const { return parse_datagram(bytes).value(); }
};

std::optional<OfGroup> heard_by(const Fd& member, Duration within = kPatience) {
  pollfd input{.fd = member.get(), .events = POLLIN, .revents = 0};
  if (::poll(&input, 1, static_cast<int>(within / milliseconds(1))) <= 0) return std::nullopt;
  OfGroup heard;
  heard.bytes.resize(1 << 16);
  const ssize_t size = receive_datagram(member.get(), heard.bytes, heard.from);
  heard.bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  return heard;
}

// A peer that has been told of the group.
struct Joined {
  explicit Joined(const Endpoint& server) : peer(server) {
    peer.join();
    peer.send({.kind = DatagramKind::join, .keep_alive = true, .token = peer.token()});
    const auto joined = peer.await(DatagramKind::joined);
    EXPECT_EQ(joined.payload.size(), kGroupPlaceBytes);
    token = read_big_endian<std::uint64_t>(as_bytes(joined.payload).data());
    next = read_big_endian<std::uint64_t>(as_bytes(joined.payload).data() + 8);
    member = group_member(with_port(server, port_of(joined.from)));
    server_at = joined.from;
  }
  MessagePeer peer;
  Fd member;
  Endpoint server_at;
  std::uint64_t token = 0, next = 0;
};

TEST_P(MessageGroups, WhatIsForAllIsSentOnce) {
  Repeater all;
  Server server(GetParam(), all);
  Joined one(server.endpoint()), other(server.endpoint());
  EXPECT_EQ(one.token, other.token);
  EXPECT_EQ(one.next, 0U);
  one.peer.send("hello, all of you");
  for (const Fd* member : {&one.member, &other.member}) {
    const auto heard = heard_by(*member);
    ASSERT_TRUE(heard);
    EXPECT_EQ(heard->from, one.server_at);
    EXPECT_EQ(heard->datagram().head.token, one.token);
    EXPECT_EQ(heard->datagram().head.number, 0U);
    EXPECT_EQ(as_text(heard->datagram().payload), "hello, all of you");
    EXPECT_FALSE(heard_by(*member, milliseconds(20)));
  }
  EXPECT_EQ(Joined(server.endpoint()).next, 1U) << "whoever comes later is told where the numbers are";
  EXPECT_EQ(other.peer.leave(), 0U) << "nothing was sent to it alone";
  server.stop();
  EXPECT_EQ(server.tally().opened, 3U) << "the group is no connection";
  EXPECT_EQ(server.tally().datagrams().foreign, 0U) << "a server does not hear itself";
}

TEST_P(MessageGroups, ALeavingPeerIsToldHowManyThereWere) {
  Repeater all;
  Server server(GetParam(), all);
  Joined one(server.endpoint());
  for (int i = 0; i < 3; ++i) {
    one.peer.send("another");
    ASSERT_TRUE(heard_by(one.member));
  }
  one.peer.send({.kind = DatagramKind::leave, .token = one.peer.token(), .number = 3});
  const auto left = one.peer.await(DatagramKind::left);
  ASSERT_EQ(left.payload.size(), kGroupCountBytes);
  EXPECT_EQ(read_big_endian<std::uint64_t>(as_bytes(left.payload).data()), 3U);
}

TEST_P(MessageGroups, TakesNoPlaceOfAConnection) {
  Limits limits = brisk();
  limits.connections = 1;
  Repeater all;
  Server server(GetParam(), all, {.limits = limits});
  MessagePeer first(server.endpoint()), second(server.endpoint());
  first.join();
  EXPECT_FALSE(second.tries_to_join(milliseconds(60)));
}

TEST_P(MessageGroups, EndsItsMembersIfItsSessionEnds) {
  Limits limits = brisk();
  limits.idle = std::chrono::hours(1);  // nothing else wakes the loop
  Repeater all;
  Server server(GetParam(), all, {.limits = limits});
  Joined one(server.endpoint());
  one.peer.send("give up");
  for (const Time begun = Clock::now(); server.tally().failures() == 0; std::this_thread::yield())
    ASSERT_LT(Clock::now() - begun, kPatience) << "its members would wait for ever";
  EXPECT_TRUE(one.peer.await(DatagramKind::left).head.unknown) << "they are told at once";
}

class MessageMembers : public MessageGroups {};
JOUST_EVERY_MESSAGE_ENGINE(MessageMembers, Role::dial);

// A server of one client, which sends to a group.
class OneMember {
 public:
  OneMember(const Variant& engine, Service& service, std::uint64_t first)
      : sender(*engine.engine), dialling(engine, service, {sender.own()}, 1) {
    const auto asked = sender.await(DatagramKind::join);
    token = asked.head.token;
    client = asked.from;
    sender.send({.kind = DatagramKind::challenge, .group = true, .token = token, .number = 99}, {}, &client);
    while (sender.await(DatagramKind::join).head.number != 99) {
    }
    const MessageGroup place{.token = kToken, .sent = first};
    const auto bytes = place.place();
    sender.send({.kind = DatagramKind::joined, .token = token, .number = 60'000}, as_text(bytes), &client);
    group = with_port(sender.own(), port_of(sender.answers_from()));
  }
  void say(std::uint64_t number, std::string_view text, std::uint64_t by = kToken) {
    sender.send({.kind = DatagramKind::data, .token = by, .number = number}, text, &group);
  }
  void leave(std::uint64_t all) {
    std::array<std::byte, kGroupCountBytes> count;
    write_big_endian(all, count.data());
    sender.send({.kind = DatagramKind::leave, .token = token}, as_text(count), &client);
    sender.await(DatagramKind::left);
    dialling.run().wait();
  }

  static constexpr std::uint64_t kToken = 0x1234;
  MessagePeer sender;
  Dialling dialling;
  std::uint64_t token = 0;
  Endpoint client, group;
};

void await_messages(const Repeater& heard, std::size_t count) {
  for (const Time begun = Clock::now(); heard.said().size() < count; std::this_thread::yield())
    ASSERT_LT(Clock::now() - begun, kPatience) << "what was sent to the group does not come";
}

TEST_P(MessageMembers, CountWhatTheyMissFromWhereTheyCameIn) {
  Repeater heard;
  OneMember one(GetParam(), heard, 100);
  one.say(99, "before its time");
  one.say(100, "first");
  one.say(102, "third");
  one.say(102, "third");
  one.say(101, "second");
  await_messages(heard, 3);
  EXPECT_EQ(heard.said(), (std::vector<std::string>{"first", "third", "second"}));
  one.leave(105);
  const DatagramCounts counts = one.dialling.tally().datagrams();
  EXPECT_EQ(counts.expected, 5U);
  EXPECT_EQ(counts.received, 3U);
  EXPECT_EQ(counts.lost, 2U);
  EXPECT_EQ(counts.duplicated, 1U);
  EXPECT_EQ(counts.out_of_order, 1U);
  EXPECT_EQ(counts.foreign, 0U);
}

TEST_P(MessageMembers, TakeNothingFromOthers) {
  Repeater heard;
  OneMember one(GetParam(), heard, 0);
  MessagePeer other(*GetParam().engine);  // another program on this machine
  other.send({.kind = DatagramKind::data, .token = OneMember::kToken}, "forged", &one.group);
  other.send_raw({}, &one.group);
  one.say(0, "of another group", OneMember::kToken + 1);
  one.sender.send({.kind = DatagramKind::left, .token = one.token}, {}, &one.group);
  one.sender.send_raw({}, &one.group);
  one.sender.send_raw(as_bytes(std::string(25, 'x')), &one.group);
  one.sender.send_raw(as_bytes(std::string(65'507, 'x')), &one.group);
  one.say(0, "the first that counts");
  await_messages(heard, 1);
  EXPECT_EQ(heard.said(), std::vector<std::string>{"the first that counts"});
  one.leave(1);
  const DatagramCounts counts = one.dialling.tally().datagrams();
  // Both of the other program, of another group, a signal, and 65,507 bytes of something else.
  EXPECT_EQ(counts.foreign, 5U);
  EXPECT_EQ(counts.truncated, 2U);  // nothing, and 25 bytes
  EXPECT_EQ(counts.lost, 0U);
}

}  // namespace
}  // namespace joust::conformance
