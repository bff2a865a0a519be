// SPDX-License-Identifier: MIT
#include "engines/io_uring/acceptor.hpp"

#ifdef JOUST_HAVE_LIBURING

#include <sys/socket.h>

#include <cerrno>

namespace joust {
namespace {

// The longest accept queue usual on Linux (net.core.somaxconn).
constexpr std::size_t kQueueAtMost = 4096;

}  // namespace

void UringAcceptor::keep_on(const Listener& listener, std::size_t room) {
  const bool may_go_on = room > kQueueAtMost;
  if (in_flight_) {
    if (goes_on_ && !may_go_on) cancel();
    return;
  }
  io_uring_sqe* const entry = ring_.prepare(tag_);
  if (may_go_on)
    io_uring_prep_multishot_accept(entry, listener.fd(), nullptr, nullptr, SOCK_CLOEXEC);
  else
    io_uring_prep_accept(entry, listener.fd(), nullptr, nullptr, SOCK_CLOEXEC);
  in_flight_ = true;
  goes_on_ = may_go_on;
}

void UringAcceptor::cancel() {
  goes_on_ = false;
  io_uring_prep_cancel64(ring_.prepare(cancel_tag_), tag_, 0);
}

Accepted UringAcceptor::completed(const io_uring_cqe& cqe, const Listener& listener) {
  if ((cqe.flags & IORING_CQE_F_MORE) == 0) in_flight_ = false;
  if (cqe.res == -ECANCELED) return {AcceptOutcome::none, {}};
  if (cqe.res < 0) return {accept_outcome(-cqe.res), {}};
  Fd socket(cqe.res);
  listener.note_facts(socket.get());
  return {AcceptOutcome::accepted, std::move(socket)};
}

}  // namespace joust

#endif
