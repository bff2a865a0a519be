// SPDX-License-Identifier: MIT
#pragma once

#ifdef JOUST_HAVE_LIBURING

#include <cstddef>
#include <cstdint>

#include "engines/io_uring/ring.hpp"
#include "net/listener.hpp"

namespace joust {

// Keeps an accept of one listener in flight. Far from the connection limit one goes on for all peers to come
// (multishot). It takes what is in the queue at one go, whatever the limit; so near that, peers are accepted
// one by one.
class UringAcceptor {
 public:
  UringAcceptor(Uring& ring, std::uint64_t tag, std::uint64_t cancel_tag)
      : ring_(ring), tag_(tag), cancel_tag_(cancel_tag) {}

  bool in_flight() const { return in_flight_; }
  void keep_on(const Listener& listener, std::size_t room);  // for that many connections, at least one
  void cancel();                                             // its last completion is still to come

  // What a completion with the tag has brought.
  Accepted completed(const io_uring_cqe& cqe, const Listener& listener);

 private:
  Uring& ring_;
  const std::uint64_t tag_;
  const std::uint64_t cancel_tag_;
  bool in_flight_ = false;
  bool goes_on_ = false;  // until cancelled
};

}  // namespace joust

#endif
