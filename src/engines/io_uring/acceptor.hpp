// SPDX-License-Identifier: MIT
#pragma once

#ifdef JOUST_HAVE_LIBURING

#include <cstddef>
#include <cstdint>

#include "engines/io_uring/peer.hpp"
#include "engines/io_uring/ring.hpp"
#include "net/listener.hpp"

namespace joust {

// Keeps an accept of one listener in flight. Far from the connection limit it is a multishot accept, which
// takes all peers in the queue, whatever the limit. Near the limit peers are accepted one by one.
class alignas(16) UringAcceptor {
 public:
  UringAcceptor(Uring& ring, const Listener& listener) : ring_(ring), listener_(listener) {}

  bool in_flight() const { return in_flight_; }
  void keep_on(std::size_t room);  // for `room` connections, at least one
  bool end();                      // cancels the accept in flight for good; true when none is left

  // The result of a completion of the accept.
  Accepted completed(const io_uring_cqe& cqe);

 private:
  // Its last completion is still to come. May have no effect while the accept is being executed.
  void cancel();
  std::uint64_t tag() const;

  Uring& ring_;
  const Listener& listener_;
  bool in_flight_ = false;
  bool goes_on_ = false;  // until cancelled
};

// The acceptor to which a completion with UringOp::accept belongs.
UringAcceptor* acceptor_of(const io_uring_cqe& cqe);

}  // namespace joust

#endif
