// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string_view>

#include "joust/bytes.hpp"
#include "joust/settings.hpp"

// The frames of RFC 6455, section 5.
namespace joust::websocket {

inline constexpr std::size_t kLargestMessage = 1 << 20;  // bytes of payload, of all its frames together
inline constexpr std::size_t kLargestControl = 125;      // bytes of payload of a ping, a pong or a close
inline constexpr std::size_t kLongestHead = 14;          // bytes of a frame before its payload
inline constexpr std::size_t kLongestBareHead = 10;      // the same, without a key

enum class Opcode : std::uint8_t { continuation = 0, text = 1, binary = 2, close = 8, ping = 9, pong = 10 };

constexpr bool is_control(Opcode opcode) {
  return opcode >= Opcode::close;
}

// Codes of a close frame (section 7.4.1). A Violation also has statuses of HTTP, which are smaller.
enum CloseCode : std::uint16_t {
  kNormal = 1000,
  kGoingAway = 1001,
  kProtocolError = 1002,
  kUnsupportedData = 1003,
  kNotUtf8 = 1007,
  kPolicyViolation = 1008,
  kTooLarge = 1009,
  kServiceRestart = 1012,
  kTryAgainLater = 1013
};

// A rule that the peer has broken: what to answer, and the rule in words.
struct Violation {
  std::uint16_t code = 0;  // a CloseCode, or a status of HTTP
  std::string_view words{};
  bool is_close() const { return code >= kNormal; }  // and not a status of HTTP
};

using MaskKey = std::array<std::byte, 4>;

struct FrameHead {
  Opcode opcode{};
  bool is_final = true;
  std::optional<MaskKey> key{};  // nothing: the payload is not masked
  std::uint64_t payload = 0;     // bytes
};

// Returns the size of the head that begins with these bytes, at least two.
std::size_t head_size(Bytes begin);
std::size_t head_size(const FrameHead& head);

// Returns the size of the whole frame that begins with these bytes, which have all of its head.
std::uint64_t frame_size(Bytes begin);

// Reads a head of head_size() bytes, which a peer of this role has sent: only a client masks (section 5.1).
std::expected<FrameHead, Violation> read_head(Bytes head, Role sender);

// Returns the end of what it has written.
std::byte* write_head(const FrameHead& head, std::byte* to);

// Masks or unmasks bytes of a payload, the first of which is byte number `at` of it. Returns the end of what
// it has written.
std::byte* copy_masked(Bytes from, const MaskKey& key, std::uint64_t at, std::byte* to);

}  // namespace joust::websocket
