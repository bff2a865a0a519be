// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "joust/bytes.hpp"
#include "joust/outbox.hpp"

namespace joust {

// How messages are separated in a stream. A message transport separates them itself: there each message that
// is written is one of the transport's, whatever the framing.

// No boundaries: bytes that arrive together are passed on together.
struct Raw {};

// A size of 4 bytes, big endian, then the payload. A frame with a greater size is a protocol error, detected
// before anything is allocated.
struct Length4 {
  static constexpr std::size_t kSizeBytes = 4;

  std::size_t largest = 1 << 20;  // bytes of payload
};

// Text up to '\n'. A '\r' before the '\n' belongs to the line's end, not to the message.
struct Line {
  std::size_t largest = 64 << 10;  // bytes, without the line's end
};

// A head, which ends with an empty line (CR LF CR LF), and a body whose size the head says. Both are the
// message.
struct Headed {
  // The size in bytes of the body that follows this head, which is given with its empty line. Nothing: the
  // head is a protocol error.
  std::optional<std::size_t> (*body_size)(Bytes head) = nullptr;
  std::size_t largest_head = 8 << 10;  // bytes, with the empty line
  std::size_t largest = 1 << 20;       // bytes, of both
};

using Framing = std::variant<Raw, Length4, Line, Headed>;

// Appends one message with its boundary. `payload` is copied.
void write_frame(const Framing& framing, Bytes payload, Outbox& into);
// The same for a message of two parts.
void write_frame(const Framing& framing, Bytes head, Bytes payload, Outbox& into);

// Cuts a stream into messages. A message that is complete in one chunk is passed on without a copy. Of an
// incomplete message only the bytes that have arrived are stored, so a large announced size alone takes no
// memory. One thread at a time.
class Deframer {
 public:
  explicit Deframer(Framing framing) : framing_(framing) {}

  enum class Status : std::uint8_t { message, need_more, malformed };
  struct Step {
    Status status;
    std::size_t taken;  // bytes of `chunk` used by this step, even without a complete message
    Bytes message;      // without its boundary; valid until the next call, and only while the chunk is
    Bytes framed{};     // the same with its boundary, as received
  };

  // The next message of `chunk`, which continues after the bytes taken by earlier calls. Must not be called
  // again after `malformed`; complaint() then gives the reason.
  Step next(Bytes chunk);

  // Only with the framing Raw: each of the next messages, such as expected replies, has exactly this many
  // bytes.
  void expect(std::size_t exact_size) { exact_ = exact_size; }

  // True while a message is incomplete.
  bool in_message() const { return !held_.empty() && !held_is_message_; }

  // The peer's protocol error, in words; empty if there was none.
  std::string_view complaint() const { return complaint_; }

 private:
  Step next_exact(Bytes chunk, std::size_t size);
  Step next_length4(Bytes chunk, std::size_t largest);
  Step next_cut_length4(Bytes chunk, std::size_t largest);
  Step next_line(Bytes chunk, std::size_t largest);
  Step next_headed(Bytes chunk, const Headed& framing);
  Step hold(Bytes chunk);
  Step complete(Bytes chunk, std::size_t taken);
  Step malformed(std::string_view complaint);

  Framing framing_;
  std::size_t exact_ = 0;
  std::size_t headed_ = 0;        // size of the message whose head has been read, or 0
  bool held_is_message_ = false;  // held_ was handed out by the last step
  std::vector<std::byte> held_;
  std::string_view complaint_;
};

}  // namespace joust
