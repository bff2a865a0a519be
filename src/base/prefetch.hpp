// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace joust {

// Starts to fetch memory into the processor's caches. The address need not be valid. Useful for memory that
// is used some hundred nanoseconds later, and was not used for long.
inline void prefetch(const void* begin, std::size_t bytes) {
  constexpr std::size_t kLine = 64;
  for (std::size_t at = 0; at < bytes; at += kLine) __builtin_prefetch(static_cast<const char*>(begin) + at);
}

// The memory of a session, from its beginning, that a message uses: that of a load, which is the largest.
inline constexpr std::size_t kMessageMemory = 512;  // bytes

}  // namespace joust
