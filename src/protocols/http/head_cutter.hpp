// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "joust/bytes.hpp"

namespace joust::http {

inline constexpr std::size_t kLargestHead = 8 << 10;    // bytes of a request's head, with its empty line
inline constexpr std::size_t kLongestTarget = 2 << 10;  // bytes

// Cuts a stream into the heads of requests, which are lines up to an empty one. Only CR LF ends a line: where
// servers disagree about that, a request can be hidden in another one. Lines that continue the previous line
// are refused for the same reason. A head that is complete in one chunk is passed on without a copy.
class HeadCutter {
 public:
  enum class Status : std::uint8_t { head, need_more, malformed, target_too_long, head_too_long };
  struct Step {
    Status status;
    std::size_t taken;  // bytes of `chunk` used by this step
    Bytes head{};       // with its empty line; valid until the next call, and only as long as the chunk
  };

  // Returns the next head of `chunk`, which continues after the bytes taken by earlier calls. Must not be
  // called again after an error.
  Step next(Bytes chunk);

  bool in_head() const { return !held_.empty() && !held_is_head_; }

 private:
  Status scan(std::string_view text);
  Step hold(Bytes part, std::size_t held);

  std::vector<std::byte> held_;  // the beginning of an incomplete head
  bool held_is_head_ = false;    // held_ was handed out by the last step
  // Offsets in the text that is scanned.
  std::size_t begin_ = 0;    // start of the head, after empty lines that may precede it
  std::size_t line_ = 0;     // start of the incomplete line
  std::size_t scanned_ = 0;  // end of the scanned text

  std::size_t empty_lines_ = 0;  // since the last head
};

}  // namespace joust::http
