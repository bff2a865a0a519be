// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "joust/framing.hpp"
#include "joust/session.hpp"

namespace joust {

// Cuts `segments`, which are bytes and no file ranges, after the first `most` bytes. Returns the number of
// segments left.
inline std::size_t first_bytes(std::span<Segment> segments, std::size_t most) {
  std::size_t count = 0;
  for (; count < segments.size() && most > 0; ++count) {
    Bytes& bytes = segments[count].bytes;
    bytes = bytes.first(std::min(bytes.size(), most));
    most -= bytes.size();
  }
  return count;
}

// Finds the end of one message of a stream, whatever parts it comes in. A byte is looked at once, or a few
// times, however many parts there are. One thread at a time.
class Finder {
 public:
  struct Found {
    std::size_t size = 0;          // of the message; 0: more is needed
    std::size_t least = 0;         // the size that it has at least, if that is known
    std::string_view complaint{};  // why there is no such message; a literal
  };

  virtual ~Finder() = default;
  // `message`: its bytes so far, all of them; more of them than at the last call.
  virtual Found find(Bytes message) = 0;
  // The next call is about another message.
  virtual void reset() {}
};

// Cuts messages whose end a finder finds. A message that is complete in one chunk is passed on without a
// copy. One thread at a time.
class FoundCutter final : public Cutter {
 public:
  // `largest`: bytes of a message; a larger one is malformed.
  FoundCutter(std::unique_ptr<Finder> finder, std::size_t largest)
      : finder_(std::move(finder)), largest_(largest) {}

  CutStep next(Bytes chunk) override;
  std::size_t memory() const override { return held_.capacity(); }
  bool in_message() const override { return !held_.empty() && !held_is_message_; }
  std::string_view complaint() const override { return complaint_; }

 private:
  CutStep malformed(std::string complaint);

  const std::unique_ptr<Finder> finder_;
  const std::size_t largest_;
  std::vector<std::byte> held_;   // the beginning of an incomplete message
  bool held_is_message_ = false;  // held_ was handed out by the last step
  std::string complaint_;
};

// Whether a message may also be a command in words, as people type it: "GET key".
enum class InlineCommands : std::uint8_t { refused, taken };

// Finds a value of RESP, versions 2 and 3: the protocol of Redis and Valkey.
std::unique_ptr<Finder> resp_finder(InlineCommands inlines = InlineCommands::refused);

}  // namespace joust
