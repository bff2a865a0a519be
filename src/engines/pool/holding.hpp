// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>

#include "joust/time.hpp"

namespace joust {

// Decides which thread may use a peer's connection: the peer's holder. The main thread leaves notes at any
// time. If it leaves a note for a peer without a holder, it becomes the holder, and hands the peer to a
// worker. A worker that has done its work releases the peer, unless new notes have come. So every note is
// read, by one worker at a time, and all that one holder has written is visible to the next.
class Holding {
 public:
  enum Note : unsigned {
    kEstablished = 1,  // make the session
    kDeadline = 2,
    kPublished = 4,
    kStop = 8,
    kEvents = 1 << 5,  // bits from here on belong to the engine
  };

  // Called by the main thread. Returns true if the peer had no holder: the caller must then hand it over.
  bool leave(unsigned notes) {
    return (state_.fetch_or(notes | kHeld, std::memory_order_acq_rel) & kHeld) == 0;
  }

  // Called by the holder. take() returns the new notes; release() returns false if more have come.
  unsigned take() { return state_.exchange(kHeld, std::memory_order_acq_rel) & ~kHeld; }
  bool release() {
    unsigned expected = kHeld;
    return state_.compare_exchange_strong(expected, 0, std::memory_order_acq_rel, std::memory_order_relaxed);
  }

 private:
  static constexpr unsigned kHeld = 1 << 4;
  std::atomic<unsigned> state_{0};
};

}  // namespace joust
