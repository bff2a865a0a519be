// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace joust {

// Two cache lines: x86 processors fetch lines in pairs.
inline constexpr std::size_t kCacheLines = 128;

// Zeroed memory that shares no cache line with any other. From calloc(), because large blocks are untouched
// pages then: what is never written takes no memory. Throws std::bad_alloc.
class ZeroedLines {
 public:
  explicit ZeroedLines(std::size_t bytes)
      : size_((bytes + kCacheLines - 1) / kCacheLines * kCacheLines),
        block_(std::calloc(1, size_ + kCacheLines)) {
    if (!block_) throw std::bad_alloc();
  }

  void* data() const {
    const auto start = reinterpret_cast<std::uintptr_t>(block_.get());
    return static_cast<std::byte*>(block_.get()) + (kCacheLines - start % kCacheLines) % kCacheLines;
  }
  std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(void* block) const { std::free(block); }
  };
  std::size_t size_;
  std::unique_ptr<void, Free> block_;
};

}  // namespace joust
