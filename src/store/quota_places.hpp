// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/keyed_hash.hpp"
#include "base/shared_memory.hpp"

namespace joust {

// What each upload has taken of a quota, for a server whose sessions live in processes that were forked since
// this was made. A process that is killed gives nothing back, and one that ends forgets the uploads that stay
// on the disk: both leave here what they had, for the processes after them.
//
// Where no place is left, an upload goes without one: what it leaves is then counted for ever. A process that
// is killed between counting bytes in the quota and here leaves these bytes counted. Any thread, any process.
class QuotaPlaces {
 public:
  static constexpr std::size_t kPlaces = 4096;

  struct Place {
    std::atomic<std::uint64_t> owner;  // a process, kNobody, or kLeft under its name
    std::atomic<std::uint64_t> name;   // hashed; 0: of an upload that is gone with its process
    std::atomic<std::uint64_t> bytes;  // of the quota
  };

  QuotaPlaces();
  bool is_shared() const;  // this process was forked since

  // For an upload of this process. The name is that of an upload that outlives an interruption, or empty.
  // Null if no place is free.
  Place* take(std::string_view name);
  static void leave(Place& place);  // for whoever brings its name again
  static void free(Place& place);   // without what is in it
  // Takes out what others have left under the name of this place, and returns the bytes.
  std::uint64_t take_left(const Place& mine);
  // How many are left under a name.
  std::size_t count_left() const;
  // Takes out what uploads had that are gone with their processes, and returns the bytes.
  std::uint64_t reclaim();
  // The same of an earlier process that had the number of this one. To be called before this one has a place.
  std::uint64_t settle_own();

 private:
  static constexpr std::uint64_t kNobody = 0, kLeft = UINT64_MAX;

  std::uint64_t hash_of(std::string_view name) const;
  static bool take_over(Place& place, std::uint64_t owner);
  static std::uint64_t settle(Place& place);

  const pid_t made_by_;
  std::atomic<pid_t> settled_by_;  // the process that has called settle_own()
  const HashKey key_;              // no peer can choose two names with one hash
  SharedMemory<std::array<Place, kPlaces>> places_{};
};

}  // namespace joust
