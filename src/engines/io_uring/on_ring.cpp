// SPDX-License-Identifier: MIT
// Needs uring.
#include "engines/io_uring/on_ring.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace joust {
namespace {

// The longest accept queue usual on Linux (net.core.somaxconn).
constexpr std::size_t kQueueAtMost = 4096;

}  // namespace

std::uint64_t UringAcceptor::tag() const {
  return uring_tag(UringOp::accept, this);
}

void UringAcceptor::keep_on(std::size_t room) {
  const bool may_go_on = room > kQueueAtMost;
  if (in_flight_) {
    if (goes_on_ && !may_go_on) cancel();
    return;
  }
  io_uring_sqe* const entry = ring_.prepare(tag());
  if (may_go_on)
    io_uring_prep_multishot_accept(entry, listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC);
  else
    io_uring_prep_accept(entry, listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC);
  in_flight_ = true;
  goes_on_ = may_go_on;
}

bool UringAcceptor::end() {
  if (in_flight_) cancel();
  return !in_flight_;
}

void UringAcceptor::cancel() {
  goes_on_ = false;
  io_uring_prep_cancel64(ring_.prepare(uring_tag(UringOp::cancel)), tag(), 0);
}

Accepted UringAcceptor::completed(const io_uring_cqe& cqe) {
  if ((cqe.flags & IORING_CQE_F_MORE) == 0) in_flight_ = false;
  if (cqe.res == -ECANCELED) return {AcceptOutcome::none, {}};
  if (cqe.res < 0) return {accept_outcome(-cqe.res), {}};
  Fd socket(cqe.res);
  listener_.note_facts(socket.get());
  return {AcceptOutcome::accepted, std::move(socket)};
}

bool UringAcceptors::keep_on(std::size_t room) {
  for (UringAcceptor& acceptor : acceptors_) {
    const std::size_t free = room - std::min(room, newcomers_.size());
    if (free == 0 && !acceptor.in_flight()) return false;
    acceptor.keep_on(free);
  }
  return true;
}

bool UringAcceptors::end() {
  bool ended = true;
  for (UringAcceptor& acceptor : acceptors_) ended &= acceptor.end();
  return ended;
}

bool UringAcceptors::completed(const io_uring_cqe& cqe) {
  Accepted next = static_cast<UringAcceptor*>(owner_of(cqe))->completed(cqe);
  if (next.outcome == AcceptOutcome::accepted) newcomers_.push_back(std::move(next.socket));
  return next.outcome != AcceptOutcome::busy;
}

void end_ring(Uring& ring) noexcept {
  ring.abandon([](const io_uring_cqe& cqe) {
    if (op_of(cqe) == UringOp::accept) const Fd unwanted(cqe.res);
  });
}

}  // namespace joust
