// SPDX-License-Identifier: MIT
#include "engines/io_uring/acceptor.hpp"

#ifdef JOUST_HAVE_LIBURING

#include <sys/socket.h>

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

UringAcceptor* acceptor_of(const io_uring_cqe& cqe) {
  return static_cast<UringAcceptor*>(owner_of(cqe));
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

}  // namespace joust

#endif
