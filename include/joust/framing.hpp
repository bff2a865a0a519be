// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "joust/bytes.hpp"
#include "joust/outbox.hpp"

namespace joust {

// The separation of messages in a stream. A message transport separates them itself: over it each written
// message is one message of the transport, whatever the framing.

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

// The result of one step through a stream.
struct CutStep {
  enum class Status : std::uint8_t { message, need_more, malformed };
  Status status;
  std::size_t taken;  // bytes of the chunk used by this step, even without a complete message
  Bytes message;      // without its boundary; valid until the next step, and only while the chunk is
  Bytes framed{};     // the message with its boundary, as received
};

// Cuts the stream of one connection into messages, as Deframer does, by rules of the protocol. One thread at
// a time.
class Cutter {
 public:
  virtual ~Cutter() = default;

  // Returns the next message of `chunk`, which is not empty and continues after the bytes taken by earlier
  // steps. A step that needs more takes at least one byte. Not called again after `malformed`.
  virtual CutStep next(Bytes chunk) = 0;

  // The peer has ended the stream. Returns the message that ends with it, or `need_more` if none does.
  virtual CutStep end() { return {CutStep::Status::need_more, 0, {}, {}}; }

  // Returns the bytes of memory that hold an incomplete message.
  virtual std::size_t memory() const { return 0; }

  virtual bool in_message() const = 0;             // a message is incomplete
  virtual std::string_view complaint() const = 0;  // after `malformed`: why, in words
};

// Boundaries that only the protocol knows, such as those of HTTP.
struct Own {
  std::function<std::unique_ptr<Cutter>()> cutter{};  // makes the cutter of one connection; any thread
};

using Framing = std::variant<Raw, Length4, Line, Own>;

// Returns the size of the largest message that a peer takes, with its boundary; SIZE_MAX if there is no
// limit, or only the protocol knows it.
std::size_t largest_frame(const Framing& framing);

// Appends one message of n bytes with its boundary. The caller must fill the returned bytes before the next
// call.
std::span<std::byte> extend_by_frame(const Framing& framing, std::size_t n, Outbox& into);
// Appends one message with its boundary. `payload` is copied.
void write_frame(const Framing& framing, Bytes payload, Outbox& into);
// Appends one message of two parts with its boundary. Both parts are copied.
void write_frame(const Framing& framing, Bytes head, Bytes payload, Outbox& into);

// Cuts a stream into messages. A message that is complete in one chunk is passed on without a copy. Only the
// bytes of an incomplete message that have arrived are stored, so a large announced size alone takes no
// memory. One thread at a time.
class Deframer {
 public:
  explicit Deframer(Framing framing);

  using Step = CutStep;
  using Status = CutStep::Status;

  // Returns the next message of `chunk`, which continues after the bytes taken by earlier calls. Must not be
  // called again after `malformed`; complaint() then gives the reason.
  Step next(Bytes chunk);

  // The peer has ended the stream. Returns the message that ends with it, if one does: only with the framing
  // Own.
  Step end();

  const Framing& framing() const { return framing_; }

  // Sets the size of each of the next messages, such as expected replies, to exactly this many bytes. Only
  // with the framing Raw.
  void expect(std::size_t exact_size) { exact_ = exact_size; }

  // True while a message is incomplete.
  bool in_message() const { return cutter_ ? cutter_->in_message() : !held_.empty() && !held_is_message_; }

  // Returns the bytes of memory that hold an incomplete message.
  std::size_t memory() const { return cutter_ ? cutter_->memory() : held_.capacity(); }

  // Returns the peer's protocol error, in words; empty if it made none.
  std::string_view complaint() const { return cutter_ ? cutter_->complaint() : complaint_; }

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
  std::unique_ptr<Cutter> cutter_;  // with the framing Own
};

}  // namespace joust
