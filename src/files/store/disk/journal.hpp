// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.hpp"

// The journal of a file that is being received: the identity of its source, and the part of it that is surely
// stored. These functions encode and decode bytes; they use no file.
namespace joust {

// Two sources with one identity have the same bytes. `id` distinguishes files of the same size and time.
struct SourceIdentity {
  std::uint64_t size = 0;        // bytes
  std::int64_t modified_ns = 0;  // since 1970
  std::uint64_t id = 0;
  auto operator<=>(const SourceIdentity&) const = default;
};

// The first `end` bytes of the file have this digest. A milestone is a prefix and no loose range: its digest
// costs nothing, because the digest of the whole file passes through it.
struct Milestone {
  std::uint64_t end = 0;
  Digest digest{};
  bool operator==(const Milestone&) const = default;
};

std::uint64_t end_of(const std::vector<Milestone>& milestones);  // the end of the last one; 0 if none exists

struct Journal {
  SourceIdentity source{};
  std::vector<Milestone> milestones{};  // sorted by their ends, none beyond the source's size
};

inline constexpr std::size_t kJournalHeadBytes = 48;
inline constexpr std::size_t kMilestoneBytes = 32;
inline constexpr std::uint64_t kMostMilestones = 8192;

std::vector<std::byte> encode(const SourceIdentity& source);
std::vector<std::byte> encode(const Milestone& milestone);

// Returns all records before the first one that is cut off, damaged or out of order. Returns nothing if that
// one is the head: then the bytes are no journal.
std::optional<Journal> parse_journal(Bytes bytes);

// The least distance between milestones, in bytes. It keeps the journal of the largest file small.
std::uint64_t milestone_distance(std::uint64_t size);

}  // namespace joust
