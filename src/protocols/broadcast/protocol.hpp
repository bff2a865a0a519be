// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "joust/framing.hpp"
#include "joust/handler.hpp"
#include "joust/protocol.hpp"
#include "joust/service.hpp"
#include "protocols/broadcast/room_log.hpp"
#include "session/handler_session.hpp"

// The frames of the broadcast protocol, its options, and its two sides.
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

// How frames travel in a stream: behind a length, or each as a binary message of WebSocket.
enum class StreamFraming : std::uint8_t { length, websocket };

// Returns the framing that the option `framing` names.
StreamFraming stream_framing_of(const Parameters& parameters);

// Returns the framing of the bytes that a peer of this role sends.
Framing framing_of(StreamFraming framing, Role sender);

// Writes a frame as a server does: in WebSocket not masked.
void write(const Frame& frame, StreamFraming framing, Writer& into);

// Returns the size with its boundary of the frame that begins here, as a server sends it.
std::size_t framed_size(StreamFraming framing, Bytes begin);

std::vector<ProtocolOption> options();
// See Protocol::no_effect and Protocol::demands.
std::string no_effect(const std::string& option, Role side, const Parameters& client);
Demands demands_of(const Parameters& parameters);

// The parsed options of the server.
struct RoomRules {
  bool each_alone = false;        // each message is sent to each member in its own send
  std::uint64_t room_bytes = 0;   // bytes of the log kept for slow members
  std::uint64_t member_rate = 0;  // bytes per second that a member may publish; 0: see RoomLog
  RateRules rates{};
  StreamFraming framing = StreamFraming::length;
};
RoomRules room_rules(const Parameters& parameters);  // throws std::invalid_argument

// Make the two sides of the protocol. make_server() throws std::invalid_argument for invalid options.
std::unique_ptr<Service> make_server(const Parameters& parameters);
std::unique_ptr<Service> make_client(const Parameters& parameters, LoadRun& run);
// Throws std::invalid_argument for options of a client that do not fit.
void check_client(const Parameters& parameters);

}  // namespace joust::broadcast
