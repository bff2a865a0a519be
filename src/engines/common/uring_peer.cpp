// SPDX-License-Identifier: MIT
#include "engines/common/uring_peer.hpp"

#ifdef JOUST_HAVE_LIBURING

#include <sys/socket.h>

namespace joust {
namespace {

constexpr std::uint64_t kOpMask = alignof(UringPeer) - 1;

}  // namespace

std::uint64_t uring_tag(UringOp op, const UringPeer* peer) {
  return reinterpret_cast<std::uintptr_t>(peer) | static_cast<std::uint64_t>(op);
}

UringOp op_of(const io_uring_cqe& cqe) {
  return static_cast<UringOp>(cqe.user_data & kOpMask);
}

UringPeer* peer_of(const io_uring_cqe& cqe) {
  return reinterpret_cast<UringPeer*>(cqe.user_data & ~kOpMask);
}

io_uring_sqe* UringPeer::prepare(Uring& ring, UringOp op) {
  io_uring_sqe* const entry = ring.prepare(uring_tag(op, this));
  ++in_flight_;
  if (op == UringOp::receive) receiving = true;
  if (op == UringOp::send) sending = true;
  if (op == UringOp::rest) resting = true;
  return entry;
}

void UringPeer::cancel(Uring& ring, UringOp op) {
  if (op == UringOp::receive) stopping = true;
  io_uring_prep_cancel64(prepare(ring, UringOp::cancel), uring_tag(op, this), 0);
}

void UringPeer::completed(UringOp op, const io_uring_cqe& cqe) {
  if ((cqe.flags & IORING_CQE_F_MORE) != 0) return;
  --in_flight_;
  if (op == UringOp::receive) receiving = stopping = false;
  if (op == UringOp::send) sending = false;
  if (op == UringOp::rest) resting = false;
  // An operation that is just being carried out is not found; if it goes on, it is cancelled again.
  if (op == UringOp::cancel && cqe.res < 0) stopping = letting_go_ = false;
}

bool UringPeer::let_go(Uring& ring) {
  if (in_flight_ == 0) return true;
  if (!std::exchange(letting_go_, true)) {
    ::shutdown(socket.get(), SHUT_RDWR);
    if (!connection) cancel(ring, UringOp::connect);
    if (receiving && !stopping) cancel(ring, UringOp::receive);
    if (sending) cancel(ring, UringOp::send);
  }
  return false;
}

void UringPeer::count(std::size_t bytes, std::uint64_t turn) {
  received_ = received_in(turn) + bytes;
  turn_ = turn;
}

}  // namespace joust

#endif
