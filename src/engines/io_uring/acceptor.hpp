// SPDX-License-Identifier: MIT
#pragma once

#ifdef JOUST_HAVE_LIBURING

#include <cstddef>
#include <cstdint>

#include "engines/io_uring/peer.hpp"
#include "engines/io_uring/ring.hpp"
#include "net/listener.hpp"

namespace joust {

// Keeps an accept of one listener in flight. Far from the connection limit one goes on for all peers to come
// (multishot). It takes what is in the queue at one go, whatever the limit; so near that, peers are accepted
// one by one.
class alignas(16) UringAcceptor {
 public:
  UringAcceptor(Uring& ring, const Listener& listener) : ring_(ring), listener_(listener) {}

  bool in_flight() const { return in_flight_; }
  void keep_on(std::size_t room);  // for that many connections, at least one
  bool end();  // for good: cancels what is in flight; true when nothing is any more

  // What a completion of the accept has brought.
  Accepted completed(const io_uring_cqe& cqe);

 private:
  // Its last completion is still to come. Without effect while an accept is just being carried out.
  void cancel();
  std::uint64_t tag() const;

  Uring& ring_;
  const Listener& listener_;
  bool in_flight_ = false;
  bool goes_on_ = false;  // until cancelled
};

// Whose accept a completion with UringOp::accept belongs to.
UringAcceptor* acceptor_of(const io_uring_cqe& cqe);

}  // namespace joust

#endif
