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
struct Raw {};  // no boundaries: whatever arrives together is handed on together
struct Length4 {
  std::size_t largest =
      1 << 20;  // payload bytes; a longer frame is a protocol error, found before any allocation
};              // a payload behind its size as 4 bytes, big endian
struct Line {
  std::size_t largest = 64 << 10;  // bytes without the newline
};                                 // text up to '\n'; a '\r' before it belongs to the line's end
using Framing = std::variant<Raw, Length4, Line>;

// Writes one message with its boundary.
void write_frame(const Framing& framing, Bytes payload, Outbox& into);

// Cuts a stream into messages. A message that lies whole in one chunk is handed on without a copy; of others
// only what has arrived is held, so a peer that announces much and sends little costs little.
class Deframer {
 public:
  explicit Deframer(Framing framing) : framing_(framing) {}

  enum class Status : std::uint8_t { message, need_more, malformed };
  struct Step {
    Status status;
    std::size_t taken;  // bytes of `chunk` used up by this step
    Bytes message;      // valid until the next call, and as long as the chunk
    Bytes framed{};     // the same with its boundary, as it came
  };

  // The next message of `chunk`, which follows the bytes taken before. After `malformed` there is no way on:
  // see complaint(). An exact size turns Raw into messages of that many bytes (the replies a client expects).
  Step next(Bytes chunk);
  void expect(std::size_t exact_size) { exact_ = exact_size; }

  bool in_message() const { return !held_.empty() && !held_is_message_; }  // part of a message has arrived
  std::string_view complaint() const { return complaint_; }

 private:
  Step next_exact(Bytes chunk, std::size_t size);
  Step next_length4(Bytes chunk, std::size_t largest);
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
