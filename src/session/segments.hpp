// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

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

}  // namespace joust
