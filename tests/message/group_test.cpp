// SPDX-License-Identifier: MIT
//
// A server's output for a group of all peers, and the side of a client that hears it, without sockets.
#include "connection/message_connection.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "message/one_server.hpp"

namespace joust {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kToken = 7, kGroupToken = 8;

// One connection with its script.
struct OneSide {
  OneSide(const MessageLink& link, Tally& counts)
      : connection(std::make_unique<ScriptedMessages>(script), link, limits, counts, now) {}

  // All that it wants to send, as it stands on the wire.
  std::vector<std::vector<std::byte>> sends() {
    std::array<DatagramOut, 8> out;
    std::vector<std::vector<std::byte>> all;
    while (const std::size_t count = connection.output(out, now)) {
      for (const DatagramOut& one : std::span(out).first(count)) {
        all.emplace_back(one.front().begin(), one.front().end());
        all.back().insert(all.back().end(), one.tail.begin(), one.tail.end());
      }
      connection.sent(count, now);
    }
    return all;
  }
  void hears(const std::vector<std::vector<std::byte>>& datagrams) {
    for (const auto& bytes : datagrams) connection.received(parse_datagram(bytes).value(), now);
  }
  void pass(Duration time) {
    now += time;
    connection.on_time(now);
  }

  Limits limits{.idle = std::chrono::seconds(60), .linger = std::chrono::seconds(1)};
  Time now{std::chrono::hours(1)};
  MessageScript script;
  MessageConnection connection;
};

class MessageGroupTest : public testing::Test {
 protected:
  using On = MessageLink::Side;
  Tally server_tally, client_tally;
  MessageGroup group{.token = kGroupToken};
  OneSide all{{.side = On::group, .token = kGroupToken, .group = &group}, server_tally};
  OneSide server{{.side = On::server, .token = kToken, .group = &group}, server_tally};
  std::optional<OneSide> client_{std::in_place, MessageLink{.side = On::client, .token = kToken},
                                 client_tally};
  OneSide& client() { return *client_; }

  DatagramCounts counts_of_client() {
    client_.reset();
    return client_tally.datagrams();
  }
  std::vector<std::vector<std::byte>> say(std::size_t messages) {
    all.script.to_send = numbered(messages);
    all.connection.refresh(all.now);
    return all.sends();
  }
};

TEST_F(MessageGroupTest, AGoodbyeWaitsForTheRestOfTheGroup) {
  server.sends();
  server.script.finished = true;
  group.drains = true;
  server.connection.refresh(server.now);
  EXPECT_FALSE(server.connection.has_output());
  EXPECT_TRUE(server.sends().empty());
  all.script.to_send = numbered(20);
  all.sends();
  group.drains = false;
  EXPECT_TRUE(server.connection.has_output());
  const auto said = server.sends();
  ASSERT_EQ(said.size(), 1U);
  const auto leave = parse_datagram(said.front()).value();
  EXPECT_EQ(leave.head.kind, DatagramKind::leave);
  EXPECT_EQ(read_big_endian<std::uint64_t>(leave.payload.data()), 20U);
}

TEST_F(MessageGroupTest, IsNoConnectionAndSaysNothingOfItsOwn) {
  EXPECT_EQ(server_tally.opened, 1U) << "the server's side of the member";
  EXPECT_FALSE(all.connection.has_output());
  all.pass(std::chrono::minutes(10));
  EXPECT_FALSE(all.connection.ended()) << "nothing comes from a group, so it is not idle";
  EXPECT_FALSE(all.connection.deadline() && *all.connection.deadline() < Time::max());
}

TEST_F(MessageGroupTest, IsHeardBesideTheServersOwnMessages) {
  client().hears(server.sends());
  client().hears(say(3));
  server.script.to_send = {"to you alone"};
  server.connection.refresh(server.now);
  client().hears(server.sends());
  EXPECT_EQ(client().script.received.size(), 4U);
  EXPECT_EQ(client().script.received.back(), "to you alone");
  const DatagramCounts counts = counts_of_client();
  EXPECT_EQ(counts.expected, 4U);
  EXPECT_EQ(counts.received, 4U);
  EXPECT_EQ(counts.foreign, 0U);
}

TEST_F(MessageGroupTest, WhoComesLaterMissesNothing) {
  const auto before = say(5);
  client().hears(server.sends());
  client().hears(before);
  client().hears(say(2));
  EXPECT_EQ(client().script.received.size(), 2U);
  const DatagramCounts counts = counts_of_client();
  EXPECT_EQ(counts.expected, 2U);
  EXPECT_EQ(counts.lost + counts.duplicated, 0U);
}

TEST_F(MessageGroupTest, IsForeignToWhoWasNotToldOfIt) {
  client().hears(say(2));
  EXPECT_TRUE(client().script.received.empty());
  EXPECT_EQ(counts_of_client().foreign, 2U);
}

TEST_F(MessageGroupTest, ALeavingServerTellsWhatIsMissing) {
  client().hears(server.sends());
  auto datagrams = say(4);
  datagrams.pop_back();
  client().hears(datagrams);
  server.connection.drain(server.now);
  client().hears(server.sends());
  EXPECT_EQ(client().script.told.back(), "open") << "the fourth may still be on its way";
  client().pass(milliseconds(30));
  EXPECT_EQ(client().script.told.back(), "peer finished");
  const DatagramCounts counts = counts_of_client();
  EXPECT_EQ(counts.expected, 4U);
  EXPECT_EQ(counts.lost, 1U);
}

// They come by different sockets.
TEST_F(MessageGroupTest, TheLastOnesMayBeReadAfterTheGoodbye) {
  client().hears(server.sends());
  const auto datagrams = say(3);
  client().script.finished = true;
  client().connection.refresh(client().now);
  server.hears(client().sends());
  client().hears(server.sends());
  EXPECT_FALSE(client().connection.ended());
  EXPECT_FALSE(client().connection.has_output()) << "it has its answer";
  client().hears(datagrams);
  EXPECT_TRUE(client().connection.ended());
  EXPECT_EQ(counts_of_client().lost, 0U);
}

TEST_F(MessageGroupTest, TheLastOnesAreNotAwaitedForLong) {
  client().hears(server.sends());
  say(3);
  client().script.finished = true;
  client().connection.refresh(client().now);
  server.hears(client().sends());
  client().hears(server.sends());
  client().pass(milliseconds(30));
  EXPECT_TRUE(client().connection.ended());
  EXPECT_EQ(counts_of_client().lost, 3U);
}

TEST_F(MessageGroupTest, EndsWhenItsSessionHasFinishedAndAllIsSent) {
  all.script.to_send = numbered(3);
  all.connection.drain(all.now);
  EXPECT_FALSE(all.connection.ended());
  EXPECT_EQ(all.sends().size(), 3U);
  EXPECT_TRUE(all.connection.ended());
}

TEST_F(MessageGroupTest, APlaceOfAnotherSizeIsNone) {
  for (const std::size_t size : {0U, 1U, 8U, 15U, 16U, 17U, 24U}) {
    const std::vector<std::byte> payload(size);
    DatagramOut out;
    for (const auto& [kind, fits] : {std::pair{DatagramKind::joined, std::size_t{16}},
                                     {DatagramKind::leave, std::size_t{8}},
                                     {DatagramKind::left, std::size_t{8}},
                                     {DatagramKind::challenge, std::size_t{0}}}) {
      write_signal({.kind = kind, .token = 1}, out, payload);
      EXPECT_EQ(parse_datagram(out.front()).has_value(), size == 0 || size == fits) << size;
    }
  }
}

// What an unconfirmed address is answered stays shorter than its question, and so does the word that lets a
// client in.
TEST_F(MessageGroupTest, TheAnswerToAJoinIsNoLongerThanTheJoin) {
  const auto first = server.sends().at(0);
  EXPECT_EQ(parse_datagram(first)->head.kind, DatagramKind::joined);
  EXPECT_LE(first.size(), kJoinBytes);
}

}  // namespace
}  // namespace joust
