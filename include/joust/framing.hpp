// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "joust/bytes.hpp"
#include "joust/outbox.hpp"

namespace joust {

// How messages are told apart in a stream. Over a message transport each unit is one message, whatever the
// framing.

// No boundaries: bytes that arrive together are handed on together.
struct Raw {};

// A size of 4 bytes, big endian, and then as many bytes of payload. A frame with a greater size is a protocol
// error, found before anything is allocated.
struct Length4 {
  std::size_t largest = 1 << 20;  // bytes of payload
};

// Text up to '\n'. A '\r' before it is part of the line's end, not of the message.
struct Line {
  std::size_t largest = 64 << 10;  // bytes, without the line's end
};

using Framing = std::variant<Raw, Length4, Line>;

// Appends one message with its boundary. `payload` is copied.
void write_frame(const Framing& framing, Bytes payload, Outbox& into);

// Cuts a stream into messages. A message that lies whole in one chunk is handed on without a copy. Of any
// other message it holds the part that has arrived, so a peer that announces much and sends little costs
// little memory. One thread at a time.
class Deframer {
 public:
  explicit Deframer(Framing framing) : framing_(framing) {}

  enum class Status : std::uint8_t { message, need_more, malformed };
  struct Step {
    Status status;
    std::size_t taken;  // bytes of `chunk` used up by this step, also where there is no message yet
    Bytes message;      // without its boundary; valid until the next call, and only as long as the chunk
    Bytes framed{};     // the same with its boundary, as it came
  };

  // The next message of `chunk`, whose first byte follows the bytes taken before. After `malformed` it must
  // not be called again: complaint() says why.
  Step next(Bytes chunk);

  // With the framing Raw: the next messages have exactly so many bytes, as the replies a client expects.
  void expect(std::size_t exact_size) { exact_ = exact_size; }

  // True while a part of a message has arrived.
  bool in_message() const { return !held_.empty() && !held_is_message_; }

  // What the peer did wrong, for people; empty where it did nothing wrong.
  std::string_view complaint() const { return complaint_; }

 private:
  Step next_exact(Bytes chunk, std::size_t size);
  Step next_length4(Bytes chunk, std::size_t largest);
  Step next_cut_length4(Bytes chunk, std::size_t largest);
  Step next_line(Bytes chunk, std::size_t largest);
  Step hold(Bytes chunk);
  Step complete(Bytes chunk, std::size_t taken);
  Step malformed(std::string_view complaint);

  Framing framing_;
  std::size_t exact_ = 0;
  bool held_is_message_ = false;  // held_ was handed out by the last step
  std::vector<std::byte> held_;
  std::string_view complaint_;
};

}  // namespace joust
