// SPDX-License-Identifier: MIT
#pragma once

#include <liburing.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "engines/io_uring/setup.hpp"
#include "joust/bytes.hpp"

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

}  // namespace joust
