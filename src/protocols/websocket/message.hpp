// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "joust/bytes.hpp"
#include "joust/framing.hpp"
#include "joust/handler.hpp"
#include "joust/settings.hpp"

// The frames of RFC 6455, section 5, and the messages that they make up.
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

// A message as MessageCutter hands it on: the head of the opening handshake; a message in one frame that is
// not masked, whatever frames it came in; or a violation, after which nothing follows.
struct Message {
  enum class Kind : std::uint8_t { handshake, text, binary, close, ping, pong, violation };

  // Returns a view of what a cutter has handed on.
  static Message read(Bytes handed_on);
  // The form in which a violation is handed on.
  static std::string of(const Violation& violation);

  // Returns whether nothing is heard after it.
  bool ends_connection() const { return kind == Kind::close || kind == Kind::violation; }

  Kind kind{};
  Bytes payload{};         // of the handshake: all of the head; of a violation: its words
  std::uint16_t code = 0;  // of a violation or a close; 0: a close without a code
};

inline constexpr std::size_t kCodeBytes = 2;  // of a close code

// Writes the payload of a close frame, with as many of the words as fit. Returns the bytes that it takes.
Bytes close_payload(const Violation& why, std::span<std::byte, kLargestControl> room);

// Send a frame, or a close, as a server does: not masked.
void write_bare(Opcode opcode, Bytes payload, Writer& writer);
void write_bare_close(const Violation& why, Writer& writer);

// Returns the rule that the payload of a close frame breaks, if it breaks one (section 5.5.1); words are
// empty otherwise.
Violation objection_to_close(Bytes payload);

bool is_utf8(std::string_view text);

inline constexpr std::size_t kLargestHandshake = 16 << 10;  // bytes of its head, with its empty line

// The payload of a message that is received, and room before it for the head of one frame.
class Assembly {
 public:
  std::size_t size() const { return size_; }
  // Appends bytes of a frame, the first of which is byte number `at` of its payload.
  void append(Bytes part, const FrameHead& frame, std::uint64_t at);
  // Returns the message in one frame that is not masked; valid until the next call of append().
  Bytes as_frame(Opcode opcode);
  void clear() { size_ = 0; }
  std::size_t memory() const { return bytes_.capacity(); }

 private:
  std::vector<std::byte>
      bytes_;  // of kLongestBareHead bytes and the payload; longer, if it was larger before
  std::size_t size_ = 0;
};

// Cuts a stream into the head of the opening handshake, and messages. What breaks the protocol
// is handed on too, as the last message, so that the other side can say why the connection ends. Only bytes
// that have arrived take memory. One thread at a time.
class MessageCutter final : public Cutter {
 public:
  // `sender`: the side whose stream this is.
  explicit MessageCutter(Role sender) : sender_(sender) {}

  CutStep next(Bytes chunk) override;
  std::size_t memory() const override;
  bool in_message() const override;
  std::string_view complaint() const override { return {}; }  // it is never malformed

 private:
  CutStep next_in_handshake(Bytes chunk);
  CutStep next_in_frame(Bytes chunk);
  CutStep begin_frame(Bytes head, std::size_t taken, Bytes chunk);
  CutStep take_payload(std::size_t taken, Bytes chunk);
  CutStep end_frame(std::size_t taken);
  CutStep whole(Opcode opcode, std::size_t taken, Bytes message);
  CutStep violated(const Violation& violation);

  const Role sender_;
  bool is_open_ = false;              // the handshake is complete
  bool was_whole_ = false;            // the last step has handed on a message of data_
  std::vector<std::byte> handshake_;  // the head, until it is complete

  std::array<std::byte, kLongestHead> head_{};  // of a frame, as far as it has come
  std::size_t head_bytes_ = 0;
  std::optional<FrameHead> frame_{};  // whose payload comes
  std::uint64_t left_ = 0;            // bytes of that

  std::optional<Opcode> opcode_{};  // of the message whose first fragments have come
  Assembly data_;                   // its payload
  Assembly control_;                // the payload of a frame that may come between two fragments
  std::string violation_;
};

}  // namespace joust::websocket
