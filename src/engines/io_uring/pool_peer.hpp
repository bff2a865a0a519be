// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "engines/io_uring/peer.hpp"
#include "engines/pool/pool_core.hpp"
#include "joust/bytes.hpp"

namespace joust {

// A peer whose operations the main thread submits, and whose session works in a pool. When an operation
// completes, the main thread fills in the result and leaves a note; the holder that finds the note reads it.
// No second operation of the kind begins before the main thread has got the peer back, but the poll for a
// hang-up goes on.
struct UringPoolPeer : UringPeer, PoolPeer {
  using UringPeer::UringPeer;

  enum Event : unsigned { kReceived = 1, kSent = 2, kRoom = 4, kHungUp = 8 };
  struct Received {
    int result;
    unsigned flags;
    Bytes bytes;
  };
  std::optional<Received> arrived;  // set until its buffer is given back
  int sent_result = 0;
  std::atomic<int> hang_up_result = 0;  // the latest result: that poll goes on

  // Used by the holder:
  enum class Outgoing : std::uint8_t { nothing, pieces, room, submitted };
  bool consumed = false;                  // `arrived` has been handled
  Outgoing outgoing = Outgoing::nothing;  // for the main thread to submit
  std::array<iovec, 64> pieces{};         // many, because each send takes two hand-overs
  std::size_t count = 0;                  // the number of pieces to send
  bool asks_for_stop = false;             // the stop is to be passed to the session when the peer is quiet:
  bool is_quiet = false;                  // no receive is in flight, and none begins until then

  // Called by the main thread.
  void give_buffer_back(Uring& ring) {
    if (arrived && (arrived->flags & IORING_CQE_F_BUFFER) != 0)
      ring.buffers().give_back(arrived->result, arrived->flags);
    arrived.reset();
  }
};

}  // namespace joust
