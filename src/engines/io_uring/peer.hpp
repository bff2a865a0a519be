// SPDX-License-Identifier: MIT
#pragma once

#ifdef JOUST_HAVE_LIBURING

#include <array>
#include <cstddef>
#include <cstdint>

#include "engines/loop/loop_core.hpp"
#include "engines/io_uring/ring.hpp"

namespace joust {

// What an operation in flight is. The first ones are a peer's, the others the loop's own.
enum class UringOp : std::uint8_t {
  receive,
  send,
  connect,
  cancel,
  rest,     // until the next turn
  room,     // in the socket, for a file
  hang_up,  // nothing else is in flight that would hear of it
  accept,
  inbox,
  stop,
  mark,     // that the kernel has come so far
};

// A peer with operations in flight. The kernel has a hold on its memory and its socket until the last
// completion of each has come; only then may it be destroyed.
struct alignas(16) UringPeer : LoopPeer {
  using LoopPeer::LoopPeer;

  io_uring_sqe* prepare(Uring& ring, UringOp op);
  void cancel(Uring& ring, UringOp op);

  // Takes note of a completion, before anything else is done about it.
  void completed(UringOp op, const io_uring_cqe& cqe);

  // The completion of a send.
  void sent(int result, Time now);

  // A reset completes whatever is in flight. Where nothing is, because nothing is wanted, a poll for nothing
  // hears of it, once: a hang-up lasts.
  void watch_for_reset(Uring& ring);
  void hung_up(int result, Time now);

  // Where a file comes first in the output: sendfile() from here, as long as it goes, and then a wait for
  // room in the socket. False when there is something else to send, or the plain way is left.
  bool send_file(Uring& ring, Time now);

  // Bytes lie in the socket that the connection wants.
  bool has_unread() const;

  // For a peer that leaves: cancels what is in flight. True when nothing is. close() alone would neither
  // cancel nor send the end of the stream while an operation holds the socket.
  bool let_go(Uring& ring);

  // Counts bytes by the turn in which they came.
  void count(std::size_t bytes, std::uint64_t turn);
  std::size_t received_in(std::uint64_t turn) const { return turn == turn_ ? received_ : 0; }

  bool receiving = false;         // a receive is in flight,
  bool stopping = false;          // and is being cancelled
  bool resting = false;           // until the next turn, when a no-op brings it back
  bool sending = false;           // a send is in flight: never two, or they could overtake one another
  std::array<iovec, 8> pieces{};  // of the send in flight
  msghdr message{};

 private:
  unsigned in_flight_ = 0;
  bool awaits_room_ = false;  // sending, but no more than that
  bool watching_ = false;     // for a reset
  bool has_hung_up_ = false;
  bool letting_go_ = false;
  std::uint64_t turn_ = 0;    // in which it last received,
  std::size_t received_ = 0;  // and how many bytes
};

// What completions of an operation carry: the address of its owner, a peer or an acceptor (or none), and the
// operation in its lowest bits, which their alignment leaves free.
std::uint64_t uring_tag(UringOp op, const void* owner = nullptr);
UringOp op_of(const io_uring_cqe& cqe);
void* owner_of(const io_uring_cqe& cqe);
UringPeer* peer_of(const io_uring_cqe& cqe);

}  // namespace joust

#endif
