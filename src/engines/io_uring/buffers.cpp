// SPDX-License-Identifier: MIT
// Needs uring.
#include "engines/io_uring/buffers.hpp"

#include <sys/mman.h>

#include <bit>
#include <cstring>
#include <utility>

#include "base/check.hpp"
#include "engines/io_uring/kernel.hpp"

namespace joust {
namespace {

// All slots together are locked memory, of which the rings of a user may often have no more than 8 MiB:
// enough for three loops.
constexpr std::size_t kSlots = 64;
constexpr std::size_t kSlotBytes = 32 << 10;
constexpr std::size_t kAllBytes = kSlots * kSlotBytes;

// Maps memory that is used when it is touched. Throws std::system_error. (liburing 2.3 has
// io_uring_register_buf_ring, but does not map the memory.)
std::byte* map_memory(std::size_t bytes) {
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) checked(-1, "mmap({})", bytes);
  return static_cast<std::byte*>(memory);
}

}  // namespace

void check_locking(int result, const char* call, const UringSetup& setup, std::uint64_t registered) {
  const RingSize size{setup.submissions, setup.completions, registered};
  if (result < 0) checked_number(-result, "{}", refused_call(call, -result, size));
}

ProvidedBuffers::ProvidedBuffers(io_uring& ring, const UringSetup& setup)
    : ring_bytes_(std::max(setup.buffers, setup.filled_buffers) * sizeof(io_uring_buf)),
      all_bytes_(ring_bytes_ +
                 std::max(setup.buffers * setup.buffer_bytes, setup.filled_buffers * setup.filled_bytes)),
      used_(std::max(setup.buffers, setup.filled_buffers)),
      place_of_(used_.size()),
      added_(4 * std::bit_ceil(used_.size())),
      memory_(map_memory(all_bytes_)),
      ring_(reinterpret_cast<io_uring_buf_ring*>(memory_)) {
  int result = -EINVAL;
  if (setup.filled_buffers > 0 && setup.multishot_receive && !setup.kernel_submits)
    result = register_ring(ring, setup.filled_buffers, setup.filled_bytes, true);
  if (result == -EINVAL) result = register_ring(ring, setup.buffers, setup.buffer_bytes, false);
  if (result < 0) ::munmap(memory_, all_bytes_);
  check_locking(result, "io_uring_register_buf_ring()", setup);
  io_uring_buf_ring_init(ring_);
  for (unsigned id = 0; id < count_; ++id) add(id);
  publish();
}

int ProvidedBuffers::register_ring(io_uring& ring, unsigned count, std::size_t bytes, bool filled) {
  count_ = count;
  bytes_ = bytes;
  auto registration = std::bit_cast<io_uring_buf_reg>(
      BufferRegistration{.ring_address = reinterpret_cast<std::uintptr_t>(ring_),
                         .entries = count,
                         .group = kGroup,
                         .flags = filled ? kFilledBuffers : std::uint16_t{0},
                         .reserved = {}});
  return retry_for_memory([&] { return io_uring_register_buf_ring(&ring, &registration, 0); });
}

ProvidedBuffers::~ProvidedBuffers() {
  ::munmap(memory_, all_bytes_);
}

Bytes ProvidedBuffers::chunk(const io_uring_cqe& cqe) const {
  return piece(id_of(cqe.flags), static_cast<std::size_t>(cqe.res));
}

void ProvidedBuffers::give_back(int result, unsigned flags) {
  const unsigned id = id_of(flags);
  auto left = static_cast<std::size_t>(std::max(result, 0));
  if ((flags & kGoesOn) != 0) {
    used_[id] += left;
    return;
  }
  unsigned place = place_of_[id];
  do {
    const unsigned next = id_at(place++);
    left -= piece(next, left).size();
    add(next);
  } while (left > 0);
}

void ProvidedBuffers::add(unsigned id) {
  used_[id] = 0;
  place_of_[id] = next_place_;
  id_at(next_place_++) = id;
  io_uring_buf_ring_add(ring_, buffer(id), static_cast<unsigned>(bytes_), static_cast<unsigned short>(id),
                        io_uring_buf_ring_mask(count_), unpublished_++);
}

void ProvidedBuffers::publish() {
  io_uring_buf_ring_advance(ring_, std::exchange(unpublished_, 0));
}

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
