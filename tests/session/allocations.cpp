// SPDX-License-Identifier: MIT
#include "session/allocations.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> largest{0};
std::atomic<std::size_t> count{0};

}  // namespace

// The whole program's: the standard allows a program to replace these two, and new[] and the rest follow.
void* operator new(std::size_t size) {
  if (size > largest) largest = size;
  ++count;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}

void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}

namespace joust {

std::size_t largest_allocation_since() {
  return largest.exchange(0);
}

std::size_t allocations() {
  return count;
}

}  // namespace joust
