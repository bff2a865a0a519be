// SPDX-License-Identifier: MIT
//
// broadcast: a member that sends some messages, each when the one before has come back.
#include "base/bytes.hpp"
#include "hostile/honest.hpp"

namespace joust::hostile {
namespace {

using broadcast::Frame;

constexpr std::size_t kMostMessage = 3000;

std::string payload_of(std::uint32_t member, std::uint64_t number) {
  return conformance::pattern(1 + (member * 31 + number * 977) % kMostMessage,
                              static_cast<unsigned>(member + number));
}

}  // namespace

void RoomMember::join() {
  say({.kind = broadcast::Kind::join, .member = member_, .payload = {}});
  if (hear().kind != broadcast::Kind::welcome) throw WrongReply("not welcomed under a name nobody else uses");
}

void RoomMember::say(const Frame& frame) {
  Outbox bytes;
  Writer writer(broadcast::kFraming, bytes);
  write(frame, writer);
  std::array<Segment, 16> segments;
  for (const Segment& segment : std::span(segments).first(bytes.segments(segments)))
    peer_.send(as_text(segment.bytes));
}

void RoomMember::round_trip(std::uint64_t number) {
  const std::string payload = payload_of(member_, number);
  say({broadcast::Kind::message, member_, number, as_bytes(payload)});
  for (;;) {
    const Frame frame = hear();
    check(frame);
    if (frame.member == member_ && frame.number == number) return;
  }
}

Frame RoomMember::hear() {
  const std::string head = peer_.receive(broadcast::kLengthBytes);
  const auto length = read_big_endian<std::uint32_t>(as_bytes(head).data());
  if (length < broadcast::kHeadBytes || length > broadcast::kLargestFrame)
    throw WrongReply("a frame of an impossible length");
  body_ = peer_.receive(length);
  return *broadcast::parse(as_bytes(body_));
}

void RoomMember::check(const Frame& frame) {
  if (frame.kind != broadcast::Kind::message) throw WrongReply("a frame that does not belong here");
  if (frame.member < kFirst) return;
  const auto [known, first] = next_.try_emplace(frame.member, frame.number);
  if (known->second++ != frame.number) throw WrongReply("a message is missing, or came twice");
  if (as_text(frame.payload) != payload_of(frame.member, frame.number))
    throw WrongReply("a message has other bytes than its sender gave it");
}

Conversation broadcast_conversation(const Circumstances& circumstances) {
  return [&circumstances](std::uint64_t number, Chance& chance) {
    RoomMember member(circumstances.server, RoomMember::kFirst + static_cast<std::uint32_t>(number));
    member.join();
    const std::uint64_t messages = chance.size(20);
    for (std::uint64_t i = 0; i < messages; ++i) member.round_trip(i);
  };
}

}  // namespace joust::hostile
