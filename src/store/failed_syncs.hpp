// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/shared_memory.hpp"
#include "store/storage.hpp"

namespace joust {

// The files whose bytes the disk has failed to take. The kernel tells that once, and from then on takes the
// lost pages for written: a second fsync() says nothing, although the disk has other bytes. Any thread, and
// any process that was forked since.
class FailedSyncs {
 public:
  static constexpr std::size_t kMost = 4096;

  // What fsync() of the file, or of its folder, has returned. An error that is not one of the disk counts as
  // none.
  void note(const FileVersion& file, int error);
  // False once anything of the file has changed. Beyond kMost files the disk is trusted with none.
  bool has(const FileVersion& file) const;

 private:
  struct Files {
    std::atomic<std::size_t> count;  // may be above kMost
    std::array<std::atomic<std::uint64_t>, kMost> keys;
  };

  SharedMemory<Files> files_{};
};

}  // namespace joust
