// SPDX-License-Identifier: MIT
#pragma once

#include <sched.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "engines/io_uring/setup.hpp"
#include "joust/time.hpp"

// Memory that the kernel uses together with a ring, and calls of the kernel that lock memory.
namespace joust {

// Maps memory that is used when it is touched. Throws std::system_error.
std::byte* map_memory(std::size_t bytes);

// Throws std::system_error for a negative result. If a limit of locked memory may be the cause, the error
// reports it. `registered`: bytes of the ring's buffers that the kernel is to keep in memory.
void check_locking(int result, const char* call, const UringSetup& setup, std::uint64_t registered = 0);

inline constexpr Duration kMemoryAtMost = std::chrono::milliseconds(100);

// Repeats a call while no memory can be locked. The memory of a ring that was closed just before, such as the
// probing one, is given back a moment later.
template <typename Call>
int retry_for_memory(Call&& call) {
  const Time until = Clock::now() + kMemoryAtMost;
  int result = call();
  while (result == -ENOMEM && Clock::now() < until) {
    ::sched_yield();
    result = call();
  }
  return result;
}

}  // namespace joust
