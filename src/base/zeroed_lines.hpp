// SPDX-License-Identifier: MIT
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <utility>

namespace joust {

// Two cache lines: x86 processors fetch lines in pairs.
inline constexpr std::size_t kCacheLines = 128;

// Zeroed memory that shares no cache line with any other memory, and is shared with the processes that are
// forked later. Its pages are untouched at first, so a page that is never written takes no memory. Throws
// std::bad_alloc.
class ZeroedLines {
 public:
  explicit ZeroedLines(std::size_t bytes)
      : size_((bytes + kCacheLines - 1) / kCacheLines * kCacheLines),
        data_(::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (data_ == MAP_FAILED) throw std::bad_alloc();
  }
  ZeroedLines(ZeroedLines&& other) noexcept
      : size_(std::exchange(other.size_, 0)), data_(std::exchange(other.data_, nullptr)) {}
  ZeroedLines& operator=(ZeroedLines&& other) noexcept {
    std::swap(size_, other.size_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~ZeroedLines() {
    if (size_ > 0) ::munmap(data_, size_);  // unmaps it in this process only
  }

  void* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  std::size_t size_;
  void* data_;
};

}  // namespace joust
