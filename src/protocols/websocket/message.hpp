// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "joust/bytes.hpp"
#include "joust/handler.hpp"
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

}  // namespace joust::websocket
