// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <mutex>
#include <new>

#include "engines/asio/library.hpp"

namespace joust {

// Memory for the handlers of the hub, without which no peer is accepted, told anything or removed. A strand
// that finds no memory for the next handler never runs again. While there is memory the reserve stays
// untouched. Any thread. It must outlive the contexts.
class AsioReserve {
 public:
  void* allocate(std::size_t bytes);  // throws std::bad_alloc
  void deallocate(void* memory) noexcept;

 private:
  // A handler needs one block, and the strand on its way to it two.
  static constexpr std::size_t kBlocks = 32, kBlockBytes = 512;
  struct alignas(std::max_align_t) Block {
    std::array<std::byte, kBlockBytes> bytes;
  };

  std::mutex mutex_;
  std::array<Block, kBlocks> blocks_;
  std::array<bool, kBlocks> taken_{};
};

// The allocator of the library's operations that takes from a reserve where no memory is left.
template <typename T>
class AsioAllocator {
 public:
  using value_type = T;

  explicit AsioAllocator(AsioReserve& reserve) : reserve_(&reserve) {}
  template <typename Other>
  explicit(false) AsioAllocator(const AsioAllocator<Other>& other) : reserve_(other.reserve_) {}

  T* allocate(std::size_t count) { return static_cast<T*>(reserve_->allocate(count * sizeof(T))); }
  void deallocate(T* memory, std::size_t /*count*/) noexcept { reserve_->deallocate(memory); }
  friend bool operator==(const AsioAllocator&, const AsioAllocator&) = default;

 private:
  template <typename Other>
  friend class AsioAllocator;

  AsioReserve* reserve_;
};

// The strand of the hub, whose handlers have the reserve.
class AsioHome {
 public:
  AsioHome(const AsioExecutor& context, AsioReserve& reserve) : strand_(context), reserve_(reserve) {}

  // Returns a handler that runs on the strand.
  template <typename Handler>
  auto bind(Handler handler) {
    return asio::bind_allocator(AsioAllocator<void>(reserve_),
                                asio::bind_executor(strand_, std::move(handler)));
  }
  // Calls the handler after those that are pending.
  template <typename Handler>
  void post(Handler handler) {
    asio::post(strand_, bind(std::move(handler)));
  }
  AsioExecutor context() const { return strand_.get_inner_executor(); }
  AsioReserve& reserve() { return reserve_; }

 private:
  AsioStrand strand_;
  AsioReserve& reserve_;
};

}  // namespace joust
