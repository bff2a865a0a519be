// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/shared_memory.hpp"
#include "store/file_tree.hpp"
#include "store/range_set.hpp"
#include "store/storage.hpp"

namespace joust {

// Counted for each file beside its bytes, for its name and metadata: limits the number of empty files in a
// quota.
inline constexpr std::uint64_t kEntryBytes = 4096;

// The number of bytes that all uploads together may add. Any thread, and any process that was forked since.
class Quota {
 public:
  explicit Quota(std::uint64_t limit);

  // False, without effect, if fewer bytes are left.
  bool take(std::uint64_t bytes);
  void give_back(std::uint64_t bytes) { *used_ -= static_cast<std::int64_t>(bytes); }

  std::uint64_t limit() const { return limit_; }
  std::uint64_t left() const;

 private:
  const std::uint64_t limit_;
  SharedMemory<std::atomic<std::int64_t>> used_{};  // negative after large files were replaced by small ones
};

// The part of a quota that one upload has taken, growing as its bytes are announced. One thread at a time.
class QuotaShare {
 public:
  // Takes kEntryBytes. Refuses, with the numbers, if a file of that size would not fit now.
  static FileAnswer<std::unique_ptr<QuotaShare>> begin(Quota& quota, std::uint64_t size);
  ~QuotaShare();  // gives everything back unless kept
  QuotaShare(const QuotaShare&) = delete;
  QuotaShare& operator=(const QuotaShare&) = delete;

  // Takes quota for these bytes of the file. A range that was given back and is sent again takes none,
  // because its bytes may still be on the disk.
  FileAnswer<void> take(ByteRange part);
  // These bytes were on the disk before: none is taken for them again. A share that was kept has them
  // already, and gives back what it has beyond them.
  void resume(ByteRange part);
  // These bytes of the file are no longer on the disk.
  void give_back(ByteRange part);
  // The file stays. The size of the replaced file is given back.
  void keep(ReplacedBytes replaced);

 private:
  explicit QuotaShare(Quota& quota) : quota_(quota), taken_(kEntryBytes) {}

  Quota& quota_;
  RangeSet ranges_;
  std::uint64_t taken_;  // bytes
};

// The shares of uploads that were interrupted, and whose files stay, by the names they will have. Any thread.
class KeptShares {
 public:
  // Of the file its first `there` bytes stay.
  void keep(std::string_view name, std::unique_ptr<QuotaShare> share, std::uint64_t there);
  std::unique_ptr<QuotaShare> take(std::string_view name);  // null if there is none

 private:
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<QuotaShare>, std::less<>> shares_;
};

}  // namespace joust
