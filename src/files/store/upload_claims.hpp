// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/shared_memory.hpp"
#include "files/store/storage.hpp"

namespace joust {

// Records which process stores which upload, for a server whose sessions run in processes that were forked
// after this object was made. Such processes cannot combine the ranges of one upload, so a second process
// that begins the upload is refused. The process that made this object claims nothing, because its sessions
// share their uploads.
//
// A process that is killed leaves its claims behind. If no place is free, an upload begins without a claim: a
// second process would then store ranges in vain, and its client notices that at the end. Any thread.
class UploadClaims {
 public:
  static constexpr std::size_t kPlaces = 4096;
  using Place = std::atomic<std::uint64_t>;  // the upload and its process; 0: free

  UploadClaims();
  bool is_shared() const;                      // true: this process was forked after the object was made
  Place* take(std::uint64_t mine);             // null if no place is free
  bool is_anothers(std::uint64_t mine) const;  // true: another process has claimed the upload
  static std::uint64_t of(const UploadRequest& request);  // the claim of this process

 private:
  const pid_t made_by_;
  SharedMemory<std::array<Place, kPlaces>> places_{};
};

// The claim of one upload.
class UploadClaim {
 public:
  // Refuses an upload that another process has claimed. If two processes begin at the same time, both may be
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
