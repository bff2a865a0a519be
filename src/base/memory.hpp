// SPDX-License-Identifier: MIT
#pragma once

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <new>
#include <system_error>
#include <type_traits>
#include <utility>

namespace joust {

// Starts to fetch memory into the processor's caches. The address need not be valid. Useful for memory that
// is used some hundred nanoseconds later, and was not used for long.
inline void prefetch(const void* begin, std::size_t bytes) {
  constexpr std::size_t kLine = 64;
  for (std::size_t at = 0; at < bytes; at += kLine) __builtin_prefetch(static_cast<const char*>(begin) + at);
}

// The memory of a session, from its beginning, that a message uses: that of a load, which is the largest.
inline constexpr std::size_t kMessageMemory = 512;  // bytes

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

// A value that a process shares with the processes that it forks later. All see each other's changes, at the
// same address. The value must be valid in each process, so it holds atomic numbers and plain arrays, but no
// mutex and no object that allocates. Throws std::system_error without memory.
template <typename T>
class SharedMemory {
  static_assert(std::is_trivially_destructible_v<T>);  // the other processes may still use it

 public:
  template <typename... Args>
  explicit SharedMemory(Args&&... args) {
    void* const page = ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap(MAP_SHARED)");
    value_ = new (page) T{std::forward<Args>(args)...};
  }
  ~SharedMemory() { ::munmap(value_, sizeof(T)); }  // unmaps it in this process only
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  T& operator*() const { return *value_; }
  T* operator->() const { return value_; }

 private:
  T* value_;
};

}  // namespace joust
