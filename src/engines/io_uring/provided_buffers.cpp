// SPDX-License-Identifier: MIT
// Needs uring.
#include "engines/io_uring/provided_buffers.hpp"

#include <sys/mman.h>

#include <bit>
#include <cerrno>
#include <cstdint>
#include <utility>

#include "engines/io_uring/memory.hpp"
#include "engines/io_uring/newer_kernels.hpp"

namespace joust {

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

}  // namespace joust
