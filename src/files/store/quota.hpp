// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "files/store/storage.hpp"

namespace joust {

// A set of disjoint ranges of numbers; adjacent ranges are merged.
class RangeSet {
 public:
  // Inserts [begin, end). Returns false, without effect, if the range is empty or overlaps with the set.
  bool insert(std::uint64_t begin, std::uint64_t end);
  // Removes a range that was inserted, even if it has been merged since.
  void erase(std::uint64_t begin, std::uint64_t end);
  // Returns the end of the range that contains `begin`, or `begin` if no range does.
  std::uint64_t end_of(std::uint64_t begin) const;
  // Returns the number of elements of [begin, end) in the set; cover() adds the others.
  std::uint64_t covered(std::uint64_t begin, std::uint64_t end) const;
  void cover(std::uint64_t begin, std::uint64_t end);
  // Removes the elements of [begin, end) that are in the set.
  void uncover(std::uint64_t begin, std::uint64_t end);
  std::size_t pieces() const { return ranges_.size(); }

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_;  // begin to end
};

// The size of the file that was replaced; empty if none was.
using ReplacedBytes = std::optional<std::uint64_t>;

// Bytes that are counted for each file beside its content, for its name and metadata. They limit the number
// of empty files in a quota.
inline constexpr std::uint64_t kEntryBytes = 4096;

// The number of bytes that all uploads together may add. Any thread.
class Quota {
 public:
  explicit Quota(std::uint64_t limit);

  bool take(std::uint64_t bytes);  // false, without effect, if fewer bytes are left
  void give_back(std::uint64_t bytes) { used_ -= static_cast<std::int64_t>(bytes); }

  std::uint64_t limit() const { return limit_; }
  std::uint64_t left() const;

 private:
  const std::uint64_t limit_;
  std::atomic<std::int64_t> used_{0};  // negative after large files were replaced by small ones
};

// The part of a quota that one upload has taken, growing as its bytes are announced. One thread at a time.
class QuotaShare {
 public:
  // Takes kEntryBytes for each entry: the file, and its journal if it has one. Refuses, with the numbers, if
  // a file of that size does not fit now.
  static FileAnswer<std::unique_ptr<QuotaShare>> begin(Quota& quota, std::uint64_t size,
                                                       unsigned entries = 1);
  ~QuotaShare();  // gives everything back unless kept
  QuotaShare(const QuotaShare&) = delete;
  QuotaShare& operator=(const QuotaShare&) = delete;

  // Takes quota for these bytes of the file. A range that was given back and is sent again takes none,
  // because its bytes may still be on the disk.
  FileAnswer<void> take(ByteRange part);
  // Sets the share to bytes that are on the disk already: no quota is taken for them again. A share that was
  // kept has them, and gives back everything beyond them.
  void resume(ByteRange part);
  // Gives back the quota of bytes that are no longer on the disk.
  void give_back(ByteRange part);
  // Ends the share of a file that stays: its bytes remain counted. Gives back the entry of the journal, which
  // is gone, and the size of the replaced file.
  void keep(ReplacedBytes replaced);

 private:
  QuotaShare(Quota& quota, std::uint64_t entries) : quota_(quota), entries_(entries) {}

  bool grow(std::uint64_t more);
  void shrink(std::uint64_t less);

  Quota& quota_;
  const std::uint64_t entries_;  // bytes, for the file and its journal
  RangeSet ranges_;
  std::uint64_t taken_ = 0;  // bytes
};

// The shares of interrupted uploads whose files stay, by the final names of the files. Any thread.
class KeptShares {
 public:
  using Remove = std::function<void(std::string_view)>;
  // Keeps at most `most` names. Beyond that a name leaves, the oldest from the address that has most of them,
  // and `remove` removes its files: an address cannot make the names of others leave.
  KeptShares(std::size_t most, Remove remove) : most_(most), remove_(std::move(remove)) {}

  // Keeps the share of a file whose first `there` bytes stay.
  void keep(std::string_view name, std::unique_ptr<QuotaShare> share, std::uint64_t there, PeerAddress from);
  std::unique_ptr<QuotaShare> take(std::string_view name);  // null if none is kept
  bool has(std::string_view name) const;
  std::size_t count() const;

 private:
  struct Kept {
    std::unique_ptr<QuotaShare> share{};
    PeerAddress from = PeerAddress::unknown;
    std::uint64_t number = 0;
  };
  using Ages = std::map<std::uint64_t, std::string>;  // names by their numbers: the oldest is the first

  // Both under the lock.
  std::unique_ptr<QuotaShare> take_now(std::string_view name);
  std::string next_to_leave() const;

  const std::size_t most_;
  const Remove remove_;
  mutable std::mutex mutex_;
  std::map<std::string, Kept, std::less<>> shares_;
  std::map<PeerAddress, Ages> ages_;
  std::uint64_t next_ = 0;
};

}  // namespace joust
