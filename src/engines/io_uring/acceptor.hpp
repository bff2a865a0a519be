// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>

#include "base/fd.hpp"
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
  void keep_on(std::size_t room);  // keeps an accept in flight for `room` connections, at least one
  bool end();                      // cancels the accept in flight for good; returns true when none is left

  // Returns the result of a completion of the accept.
  Accepted completed(const io_uring_cqe& cqe);

 private:
  // Cancels the accept, whose last completion is still to come. May have no effect while the accept is being
  // executed.
  void cancel();
  std::uint64_t tag() const;

  Uring& ring_;
  const Listener& listener_;
  bool in_flight_ = false;
  bool goes_on_ = false;  // a multishot that is not cancelled
};

// The acceptors of all listeners, and the peers they have accepted. A multishot accept takes all peers in the
// queue. Peers beyond a turn's limit wait here, so that connected peers are served meanwhile.
class UringAcceptors {
 public:
  UringAcceptors(Uring& ring, std::span<Listener* const> listeners) {
    for (const Listener* listener : listeners) acceptors_.emplace_back(ring, *listener);
  }

  // Keeps an accept of each listener in flight. Returns false if accepting is to pause, because no more
  // connections may be opened.
  bool keep_on(std::size_t room);
  bool end();  // see UringAcceptor::end()

  // Handles a completion with UringOp::accept. Returns false if accepting is to pause, because the machine is
  // short of a resource.
  bool completed(const io_uring_cqe& cqe);

  bool has_newcomers() const { return !newcomers_.empty(); }
  // Passes at most `most` newcomers to `admit`, which takes an Fd.
  template <typename Admit>
  void admit(std::size_t most, Admit&& admit) {
    for (; most > 0 && !newcomers_.empty(); --most) {
      admit(std::move(newcomers_.front()));
      newcomers_.pop_front();
    }
  }
  template <typename Admit>
  void admit_all(Admit&& admit) {
    this->admit(newcomers_.size(), admit);
  }

 private:
  std::deque<UringAcceptor> acceptors_;  // one for each listener; the kernel knows their addresses
  std::deque<Fd> newcomers_;
};

}  // namespace joust
