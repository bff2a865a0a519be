// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

// The flag bits in the heads of the file protocol's frames. Bits that a kind does not define are ignored.
namespace joust::file {

inline constexpr std::uint16_t kDigestKnown = 1 << 0;   // upload, facts, stored, end: there is a digest
inline constexpr std::uint16_t kDigestWanted = 1 << 1;  // query
inline constexpr std::uint16_t kRehearsal = 1 << 2;     // upload: to be discarded when complete
inline constexpr std::uint16_t kComplete = 1 << 3;      // stored: that was the last range
inline constexpr std::uint16_t kOfOffer = 1 << 4;       // upload: its file was offered
inline constexpr std::uint16_t kModeKnown = 1 << 4;     // facts: the mode follows
inline constexpr std::uint16_t kSkipped = 1 << 4;       // offered: the file exists, and was asked to be left
inline constexpr std::uint16_t kWasThere = 1 << 4;      // stored: so was the directory
// offer, whole, folder, and the last one of query: the sender's wishes
inline constexpr std::uint16_t kOverwrites = 1 << 4;
inline constexpr std::uint16_t kSkipsExisting = 1 << 5;
inline constexpr std::uint16_t kMakesParents = 1 << 6;
inline constexpr std::uint16_t kSynced = 1 << 7;

}  // namespace joust::file
