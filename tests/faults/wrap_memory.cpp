// SPDX-License-Identifier: MIT
//
// operator new, which the standard allows a program to replace, with and without an exception; new[] and the
// rest follow. The address sanitizer has each of them itself, so none is left out that code of joust calls.
#include <cerrno>
#include <cstdlib>
#include <new>

#include "faults/seam.hpp"

namespace {

// Constructed on the first use: objects elsewhere allocate before this file's would be there.
joust::faults::Call& new_call() {
  static joust::faults::Call call{"operator new", {ENOMEM}};
  return call;
}

// In the list from the beginning.
[[maybe_unused]] const joust::faults::Call& listed = new_call();

// Boost.Asio takes the memory of its operations by it, and keeps some of what is freed.
joust::faults::Call aligned_call{"aligned_alloc", {ENOMEM}};

}  // namespace

extern "C" {

void* __real_aligned_alloc(std::size_t alignment, std::size_t size);
void* __wrap_aligned_alloc(std::size_t alignment, std::size_t size) {
  if (aligned_call.fault() > 0) return nullptr;
  return __real_aligned_alloc(alignment, size);
}

}  // extern "C"

void* operator new(std::size_t size) {
  if (joust::faults::EngineThread::here() && new_call().fault() > 0) throw std::bad_alloc();
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}

void* operator new(std::size_t size, const std::nothrow_t& /*none*/) noexcept {
  if (joust::faults::EngineThread::here() && new_call().fault() > 0) return nullptr;
  return std::malloc(size == 0 ? 1 : size);
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}

void operator delete(void* memory, const std::nothrow_t& /*none*/) noexcept {
  std::free(memory);
}

void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}
