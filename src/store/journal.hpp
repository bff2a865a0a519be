// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/digest.hpp"

// The journal of a file that is being received: the source, and how much of it is surely there. The bytes
// alone, without a file.
namespace joust {

// Two sources with one identity have the same bytes. `id` tells files of the same size and time apart.
struct SourceIdentity {
  std::uint64_t size = 0;        // bytes
  std::int64_t modified_ns = 0;  // since 1970
  std::uint64_t id = 0;
  auto operator<=>(const SourceIdentity&) const = default;
};

// The first `end` bytes of the file have this digest. A prefix, and no loose range: its digest costs nothing,
// because the digest of the whole file passes through it.
struct Milestone {
  std::uint64_t end = 0;
  Digest digest{};
  bool operator==(const Milestone&) const = default;
};

std::uint64_t end_of(const std::vector<Milestone>& milestones);  // of the last one; 0 if there is none

struct Journal {
  SourceIdentity source{};
  std::vector<Milestone> milestones{};  // by increasing ends, none beyond the source's
};

inline constexpr std::size_t kJournalHeadBytes = 48;
inline constexpr std::size_t kMilestoneBytes = 32;
inline constexpr std::uint64_t kMostMilestones = 8192;

std::vector<std::byte> encode(const SourceIdentity& source);
std::vector<std::byte> encode(const Milestone& milestone);

// Everything up to the first record that is cut off, damaged or out of order counts. Nothing if that is the
// head: then it is no journal.
std::optional<Journal> parse_journal(Bytes bytes);

// The distance at which milestones are worth a record: the journal of the largest file stays small.
std::uint64_t milestone_distance(std::uint64_t size);

}  // namespace joust
