// SPDX-License-Identifier: MIT
// Needs uring.
#include "engines/io_uring/send_slots.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "engines/io_uring/memory.hpp"

namespace joust {
namespace {

// All slots together are locked memory, of which the rings of a user may often have no more than 8 MiB:
// enough for three loops.
constexpr std::size_t kSlots = 64;
constexpr std::size_t kSlotBytes = 32 << 10;
constexpr std::size_t kAllBytes = kSlots * kSlotBytes;

}  // namespace

SendSlots::SendSlots(io_uring& ring, const UringSetup& setup) : memory_(map_memory(kAllBytes)) {
  const iovec all{memory_, kAllBytes};
  const int result = retry_for_memory([&] { return io_uring_register_buffers(&ring, &all, 1); });
  if (result < 0) ::munmap(memory_, kAllBytes);
  check_locking(result, "io_uring_register_buffers()", setup, kAllBytes);
  for (std::size_t slot = kSlots; slot > 0; --slot) free_.push_back(memory_ + (slot - 1) * kSlotBytes);
}

SendSlots::~SendSlots() {
  ::munmap(memory_, kAllBytes);
}

std::optional<Bytes> SendSlots::fill(std::span<const iovec> pieces) {
  if (free_.empty()) return std::nullopt;
  std::byte* const slot = free_.back();
  free_.pop_back();
  std::size_t size = 0;
  for (const iovec& piece : pieces) {
    const std::size_t part = std::min(piece.iov_len, kSlotBytes - size);
    std::memcpy(slot + size, piece.iov_base, part);
    size += part;
  }
  return Bytes(slot, size);
}

void SendSlots::release(Bytes slot) {
  free_.push_back(memory_ + (slot.data() - memory_));
}

}  // namespace joust
