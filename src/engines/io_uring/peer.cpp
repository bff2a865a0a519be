// SPDX-License-Identifier: MIT
// Needs uring.
#include "engines/io_uring/peer.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "engines/files/file_io.hpp"
#include "engines/io_uring/kernel.hpp"
#include "engines/loop/ready_io.hpp"

namespace joust {
namespace {

constexpr unsigned kFilesPerTurn = 4;  // sendfile() calls for one peer, before others get their turn
constexpr std::uint64_t kOpMask = alignof(UringPeer) - 1;

// Returns true if no byte was moved, and the same operation may succeed when it is repeated. The kernel also
// cancels operations that wait for a socket by itself, when a signal meets the thread.
bool is_transient(int result) {
  constexpr std::array kTransient{-ENOBUFS, -ECANCELED, -EINTR, -EAGAIN};
  return std::ranges::find(kTransient, result) != kTransient.end();
}

// Returns true if a zero-copy send cannot be made, but a copying one can: some kinds of sockets have none,
// and the memory that a user may lock is limited.
bool demands_copy(int result) {
  constexpr std::array kDemands{-EOPNOTSUPP, -ENOMEM, -ENOBUFS};
  return std::ranges::find(kDemands, result) != kDemands.end();
}

}  // namespace

std::uint64_t uring_tag(UringOp op, const void* owner) {
  return reinterpret_cast<std::uintptr_t>(owner) | static_cast<std::uint64_t>(op);
}

UringOp op_of(const io_uring_cqe& cqe) {
  return static_cast<UringOp>(cqe.user_data & kOpMask);
}

void* owner_of(const io_uring_cqe& cqe) {
  return reinterpret_cast<void*>(cqe.user_data & ~kOpMask);
}

io_uring_sqe* UringPeer::prepare(Uring& ring, UringOp op) {
  io_uring_sqe* const entry = ring.prepare(uring_tag(op, this));
  ++in_flight_;
  if (op == UringOp::receive) receiving = true;
  if (op == UringOp::send || op == UringOp::room) sending = true;
  if (op == UringOp::room) awaits_room_ = true;
  if (op == UringOp::rest) resting = true;
  if (op == UringOp::hang_up) watching_ = true;
  return entry;
}

void UringPeer::cancel(Uring& ring, UringOp op) {
  if (op == UringOp::receive) stopping = true;
  io_uring_prep_cancel64(prepare(ring, UringOp::cancel), uring_tag(op, this), 0);
}

void UringPeer::aim(Uring& ring, io_uring_sqe& entry) {
  if (!ring.setup().direct_descriptors) return;
  if (!in_table_) in_table_ = ring.enter_in_table(socket.get());
  if (*in_table_) entry.flags |= IOSQE_FIXED_FILE;
}

void UringPeer::completed(Uring& ring, UringOp op, const io_uring_cqe& cqe) {
  if (op == UringOp::send && (cqe.flags & IORING_CQE_F_NOTIF) == 0) send_result_ = cqe.res;
  if ((cqe.flags & IORING_CQE_F_MORE) != 0) return;
  --in_flight_;
  if (op == UringOp::receive) receiving = stopping = false;
  if (op == UringOp::send || op == UringOp::room) sending = awaits_room_ = false;
  if (op == UringOp::send && slot_) ring.send_slots()->release(*std::exchange(slot_, std::nullopt));
  if (op == UringOp::room && cqe.res >= 0 && (cqe.res & POLLOUT) == 0) copies_files_ = true;
  if (op == UringOp::rest) resting = false;
  if (op == UringOp::hang_up) watching_ = false;
  // The cancel does not find an operation that is being executed. If that operation goes on, it is cancelled
  // again.
  if (op == UringOp::cancel && cqe.res < 0) stopping = letting_go_ = false;
}

void UringPeer::received(int result, Bytes bytes, Time now) {
  if (!live()) return;
  if (result > 0)
    connection->received(bytes, now);
  else if (result == 0)
    connection->peer_finished(now);
  else if (!is_transient(result))
    connection->failed({Stage::receive, -result, {}}, now);
}

// Without MSG_WAITALL, partial sends complete and show that a slow reader makes progress.
void UringPeer::send_pieces(Uring& ring, std::span<iovec> pieces) {
  io_uring_sqe& entry = *prepare(ring, UringOp::send);
  zero_copy_ = ring.setup().send != UringSend::copy && !copies_sends_;
  // A file's bytes are not copied here: its mapping may have shrunk.
  if (zero_copy_ && ring.send_slots() != nullptr && !connection->has_files())
    slot_ = ring.send_slots()->fill(pieces);
  if (slot_) {
    io_uring_prep_send_zc_fixed(&entry, socket.get(), slot_->data(), slot_->size(), MSG_NOSIGNAL,
                                kReportsCopies, SendSlots::kBuffer);
  } else if (pieces.size() == 1) {
    io_uring_prep_send(&entry, socket.get(), pieces[0].iov_base, pieces[0].iov_len, MSG_NOSIGNAL);
    if (zero_copy_) entry.opcode = IORING_OP_SEND_ZC;
  } else {
    message_.msg_iov = pieces.data();
    message_.msg_iovlen = pieces.size();
    io_uring_prep_sendmsg(&entry, socket.get(), &message_, MSG_NOSIGNAL);
    if (zero_copy_) entry.opcode = IORING_OP_SENDMSG_ZC;
  }
  if (zero_copy_) entry.ioprio |= kReportsCopies;
  aim(ring, entry);
}

void UringPeer::sent(int result, Time now) {
  if (!live()) return;
  if (result >= 0)
    connection->sent(static_cast<std::size_t>(result), now);
  else if (zero_copy_ && demands_copy(result))
    copies_sends_ = true;
  else if (!is_transient(result))
    connection->send_failed(-result, now);
}

void UringPeer::watch_for_reset(Uring& ring) {
  if (receiving || sending || watching_) return;
  io_uring_prep_poll_multishot(prepare(ring, UringOp::hang_up), socket.get(), 0);
}

void UringPeer::hung_up(int result, Time now) {
  if (result < 0 || !live()) return;
  // While the peer is received from, bytes that arrived before the reset come first.
  if ((result & POLLERR) == 0 || connection->wants_input()) return;
  if (const int error = connect_result(socket.get()); error != 0)
    connection->failed({Stage::receive, error, {}}, now);
}

// io_uring has no sendfile, only a splice, which needs a pipe and runs on another thread.
bool UringPeer::send_files(Time now) {
  if (copies_files_) return false;
  for (unsigned files = 0; files < kFilesPerTurn; ++files) {
    const auto source = connection->source();
    if (!source) return false;
    const auto done = send_file_at_once(socket.get(), *connection, *source, now);
    if (!done) return false;
    if (!*done) break;
  }
  return true;
}

void UringPeer::await_room(Uring& ring) {
  io_uring_prep_poll_add(prepare(ring, UringOp::room), socket.get(), POLLOUT);
}

bool UringPeer::has_unread() const {
  int bytes = 0;
  return live() && connection->wants_input() && ::ioctl(socket.get(), FIONREAD, &bytes) == 0 && bytes > 0;
}

bool UringPeer::let_go(Uring& ring) {
  if (in_flight_ == 0) {
    if (in_table_.value_or(false)) ring.remove_from_table(socket.get());
    return true;
  }
  if (!std::exchange(letting_go_, true)) {
    end_output();
    ::shutdown(socket.get(), SHUT_RDWR);
    if (!connection) cancel(ring, UringOp::connect);
    if (receiving && !stopping) cancel(ring, UringOp::receive);
    if (watching_) cancel(ring, UringOp::hang_up);
    if (sending) cancel(ring, awaits_room_ ? UringOp::room : UringOp::send);
  }
  return false;
}

// A connect to no address resets a TCP connection, and frees what it has not sent.
void UringPeer::end_output() {
  constexpr sockaddr kNowhere{.sa_family = AF_UNSPEC, .sa_data = {}};
  if (sending && zero_copy_) ::connect(socket.get(), &kNowhere, sizeof kNowhere);
}

void UringPeer::count(std::size_t bytes, std::uint64_t turn) {
  received_ = received_in(turn) + bytes;
  turn_ = turn;
}

}  // namespace joust
