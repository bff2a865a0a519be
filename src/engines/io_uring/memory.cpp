// SPDX-License-Identifier: MIT
// Needs uring.
#include "engines/io_uring/memory.hpp"

#include <sys/mman.h>

#include "base/check.hpp"
#include "engines/io_uring/available.hpp"

namespace joust {

// liburing 2.3 has io_uring_register_buf_ring, but does not map the memory.
std::byte* map_memory(std::size_t bytes) {
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) checked(-1, "mmap({})", bytes);
  return static_cast<std::byte*>(memory);
}

void check_locking(int result, const char* call, const UringSetup& setup, std::uint64_t registered) {
  const RingSize size{setup.submissions, setup.completions, registered};
  if (result < 0) checked_number(-result, "{}", refused_call(call, -result, size));
}

}  // namespace joust
