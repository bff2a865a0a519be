// SPDX-License-Identifier: MIT
#include "engines/asio/library.hpp"

#include <algorithm>
#include <functional>

namespace joust {

void* AsioReserve::allocate(std::size_t bytes) {
  if (void* const memory = ::operator new(bytes, std::nothrow)) return memory;
  const std::lock_guard lock(mutex_);
  const auto free = std::ranges::find(taken_, false);
  if (free == taken_.end() || bytes > kBlockBytes) throw std::bad_alloc();
  *free = true;
  return &blocks_[static_cast<std::size_t>(free - taken_.begin())];
}

void AsioReserve::deallocate(void* memory) noexcept {
  const auto* const block = static_cast<const Block*>(memory);
  if (std::less<>()(block, blocks_.data()) || !std::less<>()(block, blocks_.data() + kBlocks))
    return ::operator delete(memory);
  const std::lock_guard lock(mutex_);
  taken_[static_cast<std::size_t>(block - blocks_.data())] = false;
}

}  // namespace joust
