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

// Records what each upload has taken of a quota, for a server whose sessions run in processes that were
// forked after this object was made. A process that is killed gives nothing back, and one that ends forgets
// the uploads that stay on the disk. Both leave their records here for later processes.
//
// If no place is free, an upload goes without one: the bytes that it leaves are then counted for ever. A
// process that is killed between counting bytes in the quota and recording them here leaves these bytes
// counted. Any thread, any process.
class QuotaPlaces {
 public:
  static constexpr std::size_t kPlaces = 4096;

  struct Place {
    std::atomic<std::uint64_t> owner;  // a process, kNobody, or kLeft: waits for an upload of its name
    std::atomic<std::uint64_t> name;   // hashed; 0: the upload ends with its process
    std::atomic<std::uint64_t> bytes;  // taken of the quota
  };

  QuotaPlaces();
  bool is_shared() const;  // true: this process was forked after the object was made

  // Takes a place for an upload of this process. `name` is set for an upload that outlives an interruption,
  // and otherwise empty. Returns null if no place is free.
  Place* take(std::string_view name);
  static void leave(Place& place);  // for the next upload of its name
  static void free(Place& place);   // does not return its bytes
  // Removes the records that others have left under the name of this place, and returns their bytes.
  std::uint64_t take_left(const Place& mine);
  // The number of records that are left under a name.
  std::size_t count_left() const;
  // Removes the records of uploads that ended with their processes, and returns their bytes.
  std::uint64_t reclaim();
  // Does the same for an earlier process that had the ID of this one. Call before this process has a place.
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
