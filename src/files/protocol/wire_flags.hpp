// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

// The flag bits in the heads of the file protocol's frames. Bits that a kind does not define are ignored.
namespace joust::file {

inline constexpr std::uint16_t kDigestKnown = 1 << 0;   // upload, facts, stored, end: a digest is present
inline constexpr std::uint16_t kDigestWanted = 1 << 1;  // query
inline constexpr std::uint16_t kRehearsal = 1 << 2;     // upload: discard it when complete
inline constexpr std::uint16_t kComplete = 1 << 3;      // stored: it was the last range
inline constexpr std::uint16_t kOfOffer = 1 << 4;       // upload: its file was offered
inline constexpr std::uint16_t kModeKnown = 1 << 4;     // facts: the mode follows
inline constexpr std::uint16_t kSkipped = 1 << 4;       // offered: the file exists and is left as it is
inline constexpr std::uint16_t kWasThere = 1 << 4;      // stored: the directory existed before
// The sender's wishes in offer, whole and folder; query has the last one only.
inline constexpr std::uint16_t kOverwrites = 1 << 4;
inline constexpr std::uint16_t kSkipsExisting = 1 << 5;
inline constexpr std::uint16_t kMakesParents = 1 << 6;
inline constexpr std::uint16_t kSynced = 1 << 7;

}  // namespace joust::file
