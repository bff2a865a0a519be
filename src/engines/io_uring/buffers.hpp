// SPDX-License-Identifier: MIT
#pragma once

#include <liburing.h>
#include <sched.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engines/io_uring/knobs.hpp"
#include "joust/bytes.hpp"
#include "joust/time.hpp"

// Memory that the kernel uses together with a ring, and calls of the kernel that lock memory.
namespace joust {

// Provided buffers: the kernel takes one when bytes arrive, so idle connections hold none. With incremental
// consumption (Linux 6.12) a receive continues in the buffer of the one before: small messages are stored
// close together, and buffers can be large enough for large messages. The fill level of a buffer follows only
// from the order of completions, so this mode is off where that order is not certain: without multishot
// receives, and with SQPOLL. A bundle (Linux 6.10) is a receive that takes several buffers at once, in the
// order in which they were added; only its first one is named in the completion.
class ProvidedBuffers {
 public:
  static constexpr unsigned short kGroup = 0;

  // Throws std::system_error if the kernel refuses.
  ProvidedBuffers(io_uring& ring, const UringSetup& setup);
  ~ProvidedBuffers();
  ProvidedBuffers(const ProvidedBuffers&) = delete;
  ProvidedBuffers& operator=(const ProvidedBuffers&) = delete;

  // Returns the bytes of a receive that completed with IORING_CQE_F_BUFFER and is no bundle. They are valid
  // until given back.
  Bytes chunk(const io_uring_cqe& cqe) const;
  // Passes the same bytes to `use`, in order; those of a bundle in several parts, if its buffers are no
  // neighbours.
  template <typename Use>
  void for_each_chunk(const io_uring_cqe& cqe, Use&& use) const {
    auto left = static_cast<std::size_t>(std::max(cqe.res, 0));
    for (unsigned place = place_of_[id_of(cqe.flags)]; left > 0; ++place) {
      Bytes chunk = piece(id_at(place), left);
      for (; chunk.size() < left && id_at(place + 1) == id_at(place) + 1; ++place)
        chunk = {chunk.data(), std::min(left, chunk.size() + bytes_)};
      use(chunk);
      left -= chunk.size();
    }
  }
  // Gives the buffers of a receive back. Call it in the order of completions. Takes effect with publish().
  void give_back(const io_uring_cqe& cqe) { give_back(cqe.res, cqe.flags); }
  void give_back(int result, unsigned flags);
  void publish();

 private:
  static unsigned id_of(unsigned flags) { return flags >> IORING_CQE_BUFFER_SHIFT; }
  std::byte* buffer(unsigned id) const { return memory_ + ring_bytes_ + id * bytes_; }
  unsigned& id_at(unsigned place) { return added_[place % added_.size()]; }
  unsigned id_at(unsigned place) const { return added_[place % added_.size()]; }
  Bytes piece(unsigned id, std::size_t most) const {
    return {buffer(id) + used_[id], std::min(most, bytes_ - used_[id])};
  }
  int register_ring(io_uring& ring, unsigned count, std::size_t bytes, bool filled);
  void add(unsigned id);

  unsigned count_ = 0;
  std::size_t bytes_ = 0;  // the size of one buffer
  std::size_t ring_bytes_;
  std::size_t all_bytes_;
  std::vector<std::size_t> used_;   // for each buffer, the bytes given back so far,
  std::vector<unsigned> place_of_;  // and its place in the order of additions
  std::vector<unsigned> added_;     // the latest additions by place: more than buffers that may be in use
  unsigned next_place_ = 0;
  std::byte* memory_;
  io_uring_buf_ring* ring_;
  int unpublished_ = 0;
};

// Registered memory to send from: the kernel looks its pages up once, and not for each send. A session's
// output is not registered, so it is copied into a slot, which is in use until the kernel has released it.
class SendSlots {
 public:
  static constexpr unsigned short kBuffer = 0;  // the index of the registered memory

  // Throws std::system_error if the kernel refuses.
  SendSlots(io_uring& ring, const UringSetup& setup);
  ~SendSlots();
  SendSlots(const SendSlots&) = delete;
  SendSlots& operator=(const SendSlots&) = delete;

  // Returns a slot with the beginning of `pieces`. Nothing if all slots are in use.
  std::optional<Bytes> fill(std::span<const iovec> pieces);
  void release(Bytes slot);

 private:
  std::byte* memory_;
  std::vector<std::byte*> free_;
};

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
