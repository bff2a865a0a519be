// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/shared_memory.hpp"
#include "files/store/storage.hpp"

namespace joust {

// Remembers the files whose bytes the disk has failed to take. The kernel reports such a failure once, and
// then treats the lost pages as written: a second fsync() succeeds although the disk has other bytes. Any
// thread, and any process that was forked after this object was made.
class FailedSyncs {
 public:
  static constexpr std::size_t kMost = 4096;

  // Notes the result of fsync() for the file or for its folder. Errors other than those of a disk are
  // ignored.
  void note(const FileVersion& file, int error);
  // True if the disk has failed to take this version. False for every other version of the file. After more
  // than kMost failures the result is true for every file.
  bool has(const FileVersion& file) const;

 private:
  struct Files {
    std::atomic<std::size_t> count;  // may be above kMost
    std::array<std::atomic<std::uint64_t>, kMost> keys;
  };

  SharedMemory<Files> files_{};
};

}  // namespace joust
