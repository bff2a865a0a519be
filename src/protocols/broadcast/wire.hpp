// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "base/bytes.hpp"
#include "joust/framing.hpp"
#include "joust/handler.hpp"
#include "protocols/broadcast/room_log.hpp"

// The frames of the broadcast protocol, for both sides.
namespace joust::broadcast {

enum class Kind : std::uint8_t { join = 1, welcome = 2, refused = 3, message = 4 };

inline constexpr std::size_t kLengthBytes = Length4::kSizeBytes;
inline constexpr std::size_t kHeadBytes = 1 + 4 + 8;
inline constexpr std::size_t kLargestPayload = 64 << 10;
inline constexpr std::size_t kLargestFrame = kLengthBytes + kHeadBytes + kLargestPayload;
inline const Framing kFraming = Length4{.largest = kLargestFrame - kLengthBytes};
inline constexpr std::uint32_t kMostMembers = 1'000'000;
static_assert(kLargestFrame <= RoomLog::kLargest);

struct Frame {
  Kind kind{};
  std::uint32_t member = 0;
  std::uint64_t number = 0;
  Bytes payload;
};

// Returns nothing if the message is too short for a frame.
inline std::optional<Frame> parse(Bytes message) {
  if (message.size() < kHeadBytes) return std::nullopt;
  return Frame{.kind = static_cast<Kind>(message[0]),
               .member = read_big_endian<std::uint32_t>(message.data() + 1),
               .number = read_big_endian<std::uint64_t>(message.data() + 5),
               .payload = message.subspan(kHeadBytes)};
}

inline std::array<std::byte, kHeadBytes> head_of(const Frame& frame) {
  std::array<std::byte, kHeadBytes> head{static_cast<std::byte>(frame.kind)};
  write_big_endian(frame.member, head.data() + 1);
  write_big_endian(frame.number, head.data() + 5);
  return head;
}

inline void write(const Frame& frame, Writer& into) {
  const std::span<std::byte> message = into.extend(kHeadBytes + frame.payload.size());
  std::ranges::copy(head_of(frame), message.begin());
  std::ranges::copy(frame.payload, message.begin() + kHeadBytes);
}

}  // namespace joust::broadcast
