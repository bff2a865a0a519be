// SPDX-License-Identifier: MIT
//
// A publication reaches all sessions, on every loop and thread.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <future>
#include <thread>

#include "conformance/attempts.hpp"
#include "conformance/gathering.hpp"
#include "conformance/running.hpp"
#include "conformance/scripted.hpp"

namespace joust::conformance {
namespace {

class Publishing : public CommonSessionsTest {};
JOUST_EVERY_ENGINE(Publishing, Role::serve);

TEST_P(Publishing, AllHearWhenTheLastHasCome) {
  checks(Duty::publications);
  constexpr unsigned kExpected = 30;
  GatheringService gathering(kExpected);
  Server server(GetParam(), gathering);
  std::vector<Peer> peers;
  for (unsigned i = 1; i < kExpected; ++i) peers.emplace_back(server.endpoint());
  EXPECT_FALSE(peers.front().hears_within(std::chrono::milliseconds(20)));
  peers.emplace_back(server.endpoint());
  for (Peer& peer : peers) EXPECT_EQ(peer.receive(2), "go");
}

constexpr std::uint32_t kMembers = 50;
constexpr std::uint32_t kRemarksEach = 20;

// Sends its remarks one by one and reads those of all members. Returns the number received from each member
// in order.
std::vector<std::uint32_t> take_part(Peer peer, std::uint32_t self) {
  for (std::uint32_t number = 0; number < kRemarksEach; ++number) {
    const Remark remark{self, number};
    peer.send({reinterpret_cast<const char*>(&remark), sizeof remark});
  }
  std::vector<std::uint32_t> heard(kMembers);
  for (std::uint32_t i = 0; i < kMembers * kRemarksEach; ++i) {
    Remark remark{};
    std::memcpy(&remark, peer.receive(sizeof remark).data(), sizeof remark);
    if (remark.speaker < kMembers && remark.number == heard[remark.speaker]) ++heard[remark.speaker];
  }
  return heard;
}

TEST_P(Publishing, WhatOneSaysAllHearOnceAndInOrder) {
  checks(Duty::publications);
  RoomService room(kMembers * kRemarksEach);
  Server server(GetParam(), room);
  std::vector<std::future<std::vector<std::uint32_t>>> members;
  for (std::uint32_t self = 0; self < kMembers; ++self)
    members.push_back(std::async(std::launch::async, take_part, Peer(server.endpoint()), self));
  for (auto& member : members) EXPECT_EQ(member.get(), std::vector(kMembers, kRemarksEach));
}

// Twenty sessions publish a letter in the same turn. Sending after each publication would take twenty sends
// to each.
TEST_P(Publishing, WhatIsPublishedTogetherIsSentTogether) {
  checks(Duty::batching);
  constexpr std::size_t kSpeakers = 20;
  expect_at_most(kSpeakers * 5 / 4, [&]() -> std::optional<std::size_t> {
    ScriptedService service;
    Server server(GetParam(), service);
    std::vector<Peer> speakers;
    for (std::size_t i = 0; i < kSpeakers; ++i) speakers.push_back(service.join(server));
    if (!service.on_one_thread()) return std::nullopt;
    speakers.front().send("h");
    service.gate().await_held();
    for (Peer& speaker : speakers) speaker.send("p");
    service.let_go();
    for (Peer& speaker : speakers) EXPECT_EQ(speaker.receive(kSpeakers), std::string(kSpeakers, 'p'));
    return std::ranges::count(service.told_since(), Told::What::sent, &Told::what);
  });
}

// A publication from outside the engine wakes a sleeping loop.
TEST_P(Publishing, ReachesALoopThatSleeps) {
  checks(Duty::publications);
  RoomService room(5);
  Server server(GetParam(), room);
  Peer peer(server.endpoint());
  const Remark first{1, 0};
  peer.send({reinterpret_cast<const char*>(&first), sizeof first});
  peer.receive(sizeof first);
  for (std::uint32_t number = 0; number < 4; ++number) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // so that the loop falls asleep
    room.publish({7, number});
    Remark heard{};
    std::memcpy(&heard, peer.receive(sizeof heard).data(), sizeof heard);
    EXPECT_EQ(heard.speaker, 7U);
    EXPECT_EQ(heard.number, number);
  }
}

// The slow member gets all remarks in the end, and does not delay the others.
TEST_P(Publishing, SlowMemberCatchesUp) {
  checks(Duty::publications);
  constexpr std::uint32_t kRemarks = 12'000;
  RoomService room(kRemarks);
  Server server(GetParam(), room, {.socket = {.send_buffer = 16 << 10, .receive_buffer = 16 << 10}});
  Peer slow(server.endpoint(), 16 << 10);
  Peer listener(server.endpoint(), 16 << 10);
  for (std::uint32_t number = 0; number < kRemarks; number += 100) {
    for (std::uint32_t i = 0; i < 100; ++i) room.publish({3, number + i});
    listener.receive(100 * sizeof(Remark));
  }
  const std::string all = slow.receive(kRemarks * sizeof(Remark));
  EXPECT_EQ(std::memcmp(all.data(), room.all().data(), all.size()), 0);
}

}  // namespace
}  // namespace joust::conformance
