// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

// The flag bits in the heads of the file protocol's frames. Bits that a kind does not define are ignored.
namespace joust::file {

inline constexpr std::uint16_t kDigestKnown = 1 << 0;   // upload, facts, stored, end: there is a digest
inline constexpr std::uint16_t kDigestWanted = 1 << 1;  // query
inline constexpr std::uint16_t kRehearsal = 1 << 2;     // upload: to be discarded when complete
inline constexpr std::uint16_t kComplete = 1 << 3;      // stored: that was the last range

}  // namespace joust::file
