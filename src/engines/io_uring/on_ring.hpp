// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/fd.hpp"
#include "connection/tally.hpp"
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

// Waits for the end of all operations, and closes sockets accepted meanwhile.
void end_ring(Uring& ring) noexcept;

// The common part of the loops on a ring: the ring, the accepts, and the operations that belong to no peer.
// The core keeps the peers: LoopCore or PoolCore.
template <template <typename> typename Core, typename Own>
class OnRing : public Core<Own> {
 public:
  using Peer = Own;

  OnRing(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index, const UringSetup& setup)
      : Core<Peer>(hosting, stop, group, index), ring_(setup) {
    for (const std::string& feature : ring_.missing()) hosting.tally.missing(feature);
    ring_.watch(stop.fd(), uring_tag(UringOp::stop));
    ring_.watch(this->inbox().waker().fd(), uring_tag(UringOp::inbox));
  }
  ~OnRing() override { end_ring(ring_); }

 protected:
  // The steps of a turn, in this order.

  void start_dials() {
    Core<Peer>::start_dials(0);  // blocking: on non-blocking sockets io_uring would complete with EAGAIN
  }
  void keep_accepting() {
    if (!this->is_stopping() && !this->accepting_paused() && !acceptors_.keep_on(this->room()))
      this->pause_accepting(Core<Peer>::Lack::place);
  }
  // Submits what was prepared and waits for completions. In a hurry it takes those that exist.
  void wait(bool in_hurry) {
    in_hurry |= acceptors_.has_newcomers();
    ring_.submit_and_wait(in_hurry ? Duration::zero() : this->next_wait());
    this->read_clock();
    if (ring_.completions() > 0) this->found_work(ring_.completions());
  }
  // Handles the completion of an operation of the loop. Returns the peer if it is that of a peer's.
  Peer* take(const io_uring_cqe& cqe) {
    const UringOp op = op_of(cqe);
    const bool last = (cqe.flags & IORING_CQE_F_MORE) == 0;
    // The kernel may also have ended the watch.
    if (op == UringOp::stop && this->stop().requested()) this->request_stop();
    if (op == UringOp::stop && last && !this->is_stopping()) ring_.watch(this->stop().fd(), uring_tag(op));
    if (op == UringOp::mark) mark_passed_ = true;
    if (op == UringOp::inbox) this->admit_dealt();  // clears the waker
    if (op == UringOp::inbox && last) ring_.watch(this->inbox().waker().fd(), uring_tag(op));
    if (op != UringOp::accept) return peer_of<Peer>(cqe);
    if (!acceptors_.completed(cqe)) this->pause_accepting(Core<Peer>::Lack::resource);
    return nullptr;
  }
  void admit_newcomers() {
    if (acceptors_.has_newcomers())
      acceptors_.admit(this->accept_quota(), [this](Fd socket) { this->accepted(std::move(socket)); });
  }

  // The steps of a stop.

  // Ends the accepts. When none is in flight any more, it admits the peers left in the queues, ends accepting
  // and returns true.
  bool end_accepts() {
    if (!acceptors_.end()) return false;
    acceptors_.admit_all([this](Fd socket) { this->accepted(std::move(socket)); });
    this->end_accepting(0);
    return true;
  }
  // With SQPOLL, bytes that have arrived may not have been received or completed yet. The kernel's thread
  // works in order, so the completion of a marker follows those of all earlier receives.
  bool has_caught_up() {
    if (mark_passed_) return *mark_passed_;
    if (std::ranges::any_of(this->peers(), [](const auto& peer) { return peer->has_unread(); })) return false;
    io_uring_prep_nop(ring_.prepare(uring_tag(UringOp::mark)));
    mark_passed_ = false;
    return false;
  }
  void note_overflow(const std::string& engine) const {
    if (ring_.has_overflowed())
      this->hosting().tally.note(engine + ": the completion queue was full at times");
  }

  Uring ring_;  // destroyed before the peers, which belong to the core

 private:
  void connect(Peer& peer) final {
    const Endpoint& to = this->endpoint_of(peer);
    io_uring_prep_connect(peer.prepare(ring_, UringOp::connect), peer.socket.get(), to.raw(), to.size);
  }

  UringAcceptors acceptors_{ring_, this->listeners()};
  std::optional<bool> mark_passed_;  // during a stop: whether the marker has completed, once submitted
};

}  // namespace joust
