// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <new>

#include "engines/asio/build.hpp"

namespace joust::JOUST_ASIO_BUILD {

// The memory of one operation, and then of its handler, kept beside the connection. Operations use it one
// after the other, so a message allocates nothing. The library's own cache is for a few operations of a
// thread, while thousands wait at the same time. The library requests this memory through the allocator of a
// handler.
class AsioMemory {
 public:
  AsioMemory() = default;
  AsioMemory(const AsioMemory&) = delete;
  AsioMemory& operator=(const AsioMemory&) = delete;

  void* take(std::size_t size) {
    if (taken_ || size > bytes_.size()) return ::operator new(size);
    taken_ = true;
    return bytes_.data();
  }
  void give_back(void* place) {
    if (place == bytes_.data())
      taken_ = false;
    else
      ::operator delete(place);
  }

 private:
  alignas(std::max_align_t) std::array<std::byte, 320> bytes_;
  bool taken_ = false;
};

// The interface of the standard library to AsioMemory.
template <typename T>
class AsioAllocator {
 public:
  using value_type = T;

  explicit AsioAllocator(AsioMemory& memory) : memory_(&memory) {}
  template <typename U>
  AsioAllocator(const AsioAllocator<U>& other) : memory_(other.memory()) {}

  T* allocate(std::size_t n) { return static_cast<T*>(memory_->take(n * sizeof(T))); }
  void deallocate(T* place, std::size_t /*n*/) { memory_->give_back(place); }
  AsioMemory* memory() const { return memory_; }
  template <typename U>
  bool operator==(const AsioAllocator<U>& other) const {
    return memory_ == other.memory();
  }

 private:
  AsioMemory* memory_;
};

}  // namespace joust::JOUST_ASIO_BUILD
