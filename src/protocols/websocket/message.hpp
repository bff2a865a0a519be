// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "joust/bytes.hpp"
#include "joust/framing.hpp"
#include "joust/handler.hpp"
#include "joust/settings.hpp"
#include "protocols/websocket/frame.hpp"

namespace joust::websocket {

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

// Cuts a stream into the head of the opening handshake, and messages (message.hpp). What breaks the protocol
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
