// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "store/file_tree.hpp"
#include "store/range_set.hpp"
#include "store/storage.hpp"

namespace joust {

// What a file counts besides its bytes, for its name and facts: it limits how many empty files fit into a
// quota.
inline constexpr std::uint64_t kEntryBytes = 4096;

// The bytes that all uploads together may add to what is stored. Any thread.
class Quota {
 public:
  explicit Quota(std::uint64_t limit);

  // False, and nothing is taken, where so many are not left.
  bool take(std::uint64_t bytes);
  void give_back(std::uint64_t bytes) { used_ -= static_cast<std::int64_t>(bytes); }

  std::uint64_t limit() const { return limit_; }
  std::uint64_t left() const;

 private:
  const std::uint64_t limit_;
  std::atomic<std::int64_t> used_{0};  // below zero when large files were replaced by small ones
};

// What one upload takes of a quota, step by step as its bytes are announced. One thread at a time.
class QuotaShare {
 public:
  // Takes the room of the entry. Refused, with the numbers, where a file of that size would not fit now.
  static FileAnswer<std::unique_ptr<QuotaShare>> begin(Quota& quota, std::uint64_t size);
  ~QuotaShare();  // gives everything back unless it was kept
  QuotaShare(const QuotaShare&) = delete;
  QuotaShare& operator=(const QuotaShare&) = delete;

  // Room for these bytes of the file. A range that was given back and is brought again needs no further room:
  // its bytes may lie on the disk still.
  FileAnswer<void> take(ByteRange part);
  // The file stays. What it has replaced is counted off.
  void keep(ReplacedBytes replaced);

 private:
  explicit QuotaShare(Quota& quota) : quota_(quota), taken_(kEntryBytes) {}

  Quota& quota_;
  RangeSet ranges_;
  std::uint64_t taken_;  // bytes
};

}  // namespace joust
