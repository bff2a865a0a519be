// SPDX-License-Identifier: MIT
#pragma once

#include <sys/mman.h>

#include <cerrno>
#include <new>
#include <system_error>
#include <type_traits>
#include <utility>

namespace joust {

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
