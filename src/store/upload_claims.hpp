// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/shared_memory.hpp"
#include "store/storage.hpp"

namespace joust {

// Which process stores which upload, for a server whose sessions live in processes that were forked since.
// The ranges of one upload cannot meet there, so a second process that begins it is refused. In the process
// that made this object nothing is claimed, because its sessions share their uploads.
//
// A process that is killed leaves its claims behind. Where no place is left, an upload begins without a
// claim: a second process would then store ranges in vain, which their client notices at the end. Any thread.
class UploadClaims {
 public:
  static constexpr std::size_t kPlaces = 4096;
  using Place = std::atomic<std::uint64_t>;  // the upload and its process; 0: free

  UploadClaims();
  bool is_shared() const;                                 // this process was forked since
  Place* take(std::uint64_t mine);                        // null if no place is free
  bool is_anothers(std::uint64_t mine) const;             // another process has claimed the upload
  static std::uint64_t of(const UploadRequest& request);  // by this process

 private:
  const pid_t made_by_;
  SharedMemory<std::array<Place, kPlaces>> places_{};
};

// The claim of one upload.
class UploadClaim {
 public:
  // Refuses what another process has claimed. Of two processes that begin at the same time, both may be
  // refused.
  static FileAnswer<std::unique_ptr<UploadClaim>> begin(UploadClaims& claims, const UploadRequest& request);
  ~UploadClaim();
  UploadClaim(const UploadClaim&) = delete;
  UploadClaim& operator=(const UploadClaim&) = delete;

 private:
  explicit UploadClaim(UploadClaims::Place* place) : place_(place) {}

  UploadClaims::Place* const place_;  // null: nothing is claimed
};

}  // namespace joust
