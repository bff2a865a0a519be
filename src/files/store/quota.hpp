// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "base/shared_memory.hpp"
#include "files/store/file_tree.hpp"
#include "files/store/quota_places.hpp"
#include "files/store/range_set.hpp"
#include "files/store/storage.hpp"

namespace joust {

// Bytes that are counted for each file beside its content, for its name and metadata. They limit the number
// of empty files in a quota.
inline constexpr std::uint64_t kEntryBytes = 4096;

// The number of bytes that all uploads together may add. Any thread, and any process that was forked after
// this object was made.
class Quota {
 public:
  explicit Quota(std::uint64_t limit);

  // Returns false, without effect, if fewer bytes are left, even after reclaim().
  bool take(std::uint64_t bytes);
  void give_back(std::uint64_t bytes) { *used_ -= static_cast<std::int64_t>(bytes); }

  std::uint64_t limit() const { return limit_; }
  std::uint64_t left() const;
  bool has_room(std::uint64_t bytes);  // calls reclaim() too, if necessary

  // Gives back the bytes of processes that have ended without giving them back. Returns false if no such
  // bytes exist.
  bool reclaim();
  // Takes a place for an upload. Returns null if this process made the quota, or if no place is free.
  QuotaPlaces::Place* place_for(std::string_view name);
  QuotaPlaces& places() { return places_; }
  const QuotaPlaces& places() const { return places_; }

 private:
  bool take_now(std::uint64_t bytes);

  const std::uint64_t limit_;
  SharedMemory<std::atomic<std::int64_t>> used_{};  // negative after large files were replaced by small ones
  QuotaPlaces places_;
};

// The part of a quota that one upload has taken, growing as its bytes are announced. One thread at a time.
class QuotaShare {
 public:
  // Takes kEntryBytes. Refuses, with the numbers, if a file of that size does not fit now. `name` is set for
  // an upload that outlives an interruption: its share takes twice as much, because of the journal, and takes
  // over the bytes that another process has left under the name.
  static FileAnswer<std::unique_ptr<QuotaShare>> begin(Quota& quota, std::uint64_t size,
                                                       std::string_view name = {});
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
  // Leaves the share to the next process that uploads the name. Returns false if the share has no place for
  // that.
  bool leave();
  // True if no process would know of the share after the end of this one.
  bool ends_with_process() const { return quota_.places().is_shared(); }

 private:
  QuotaShare(Quota& quota, QuotaPlaces::Place* place, std::uint64_t entries)
      : quota_(quota), place_(place), entries_(entries) {}

  bool take_left();  // false if nothing was left
  bool grow(std::uint64_t more);
  void shrink(std::uint64_t less);
  void put(std::uint64_t taken);

  Quota& quota_;
  QuotaPlaces::Place* place_;    // set in a forked process; may be null
  const std::uint64_t entries_;  // bytes, for the file and its journal
  RangeSet ranges_;
  std::uint64_t taken_ = 0;  // bytes
};

// The shares of interrupted uploads whose files stay, by the final names of the files. The shares of forked
// processes are in the places of the quota instead. Any thread.
class KeptShares {
 public:
  using Remove = std::function<void(std::string_view)>;
  // Keeps at most `most` names. Beyond that a name leaves, the oldest from the address that has most of them,
  // and `remove` removes its files: an address cannot make the names of others leave.
  KeptShares(std::size_t most, Remove remove) : most_(most), remove_(std::move(remove)) {}

  // Keeps the share of a file whose first `there` bytes stay. Returns false if they must not stay, because no
  // process would count them.
  [[nodiscard]] bool keep(std::string_view name, std::unique_ptr<QuotaShare> share, std::uint64_t there,
                          PeerAddress from);
  std::unique_ptr<QuotaShare> take(std::string_view name);  // null if none is kept
  std::size_t count() const;                                // shares of this process

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
