// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <mutex>
#include <set>

#include "files/store/storage.hpp"

namespace joust {

// Remembers the files whose bytes the disk has failed to take. The kernel reports such a failure once, and
// then treats the lost pages as written: a second fsync() succeeds although the disk has other bytes. Any
// thread.
class FailedSyncs {
 public:
  static constexpr std::size_t kMost = 4096;

  // Notes the result of fsync() for the file or for its folder. Errors other than those of a disk are
  // ignored.
  void note(const FileVersion& file, int error);
  // True if the disk has failed to take this version. False for every other version of the file, also for one
  // that was removed and made again: its time of change differs. After more than kMost failures the result is
  // true for every file.
  bool has(const FileVersion& file) const;

 private:
  mutable std::mutex mutex_;
  std::set<FileVersion> files_;
};

}  // namespace joust
