// SPDX-License-Identifier: MIT
#pragma once

#ifdef JOUST_HAVE_LIBURING

#include <cstddef>
#include <cstdint>
#include <span>

#include "engines/loop/loop_core.hpp"
#include "engines/io_uring/ring.hpp"
#include "joust/bytes.hpp"

namespace joust {

// The kind of an operation in flight. The first ones belong to a peer, the others to the loop.
enum class UringOp : std::uint8_t {
  receive,
  send,
  connect,
  cancel,
  rest,     // a no-op, for a peer that waits for the next turn
  room,     // a poll for room in the socket, for a file
  hang_up,  // a poll for a reset, when nothing else is in flight
  accept,
  inbox,
  stop,
  mark,  // a marker: earlier receives of the kernel's thread are complete
};

// A peer with operations in flight. The kernel uses its memory and its socket until the last completion of
// each operation; only then may it be destroyed.
struct alignas(16) UringPeer : LoopPeer {
  using LoopPeer::LoopPeer;

  io_uring_sqe* prepare(Uring& ring, UringOp op);
  void cancel(Uring& ring, UringOp op);

  // Records a completion. Call it first.
  void completed(UringOp op, const io_uring_cqe& cqe);

  // The completions of a receive, whose bytes are empty unless the result is positive, and of a send.
  void received(int result, Bytes bytes, Time now);
  void sent(int result, Time now);

  // A send of `pieces`, which stay in place until it completes. So does the output, until sent(): the kernel
  // may read both at any time.
  void send_pieces(Uring& ring, std::span<iovec> pieces);

  // A reset completes all operations in flight. When none is, because nothing is wanted, a poll without
  // events detects the reset. A poll of io_uring also reports when the peer has ended its direction of the
  // stream, which lasts. So the poll is a multishot: it reports changes, and goes on.
  void watch_for_reset(Uring& ring);
  void hung_up(int result, Time now);

  // When a file comes first in the output: sendfile() until the socket is full, or a turn is over;
  // await_room(), a poll, is to follow. False if other output comes first, or if the file has to be read. A
  // poll of io_uring also ends when the peer has ended its direction of the stream; that lasts, so from then
  // on files are read, and the send waits for room.
  bool send_files(Time now);
  void await_room(Uring& ring);

  // True if the socket holds bytes that the connection wants.
  bool has_unread() const;

  // For a peer that leaves: cancels the operations in flight. True when there are none. close() alone would
  // neither cancel them nor send the end of the stream while an operation holds the socket.
  bool let_go(Uring& ring);

  // Counts received bytes for each turn.
  void count(std::size_t bytes, std::uint64_t turn);
  std::size_t received_in(std::uint64_t turn) const { return turn == turn_ ? received_ : 0; }

  bool receiving = false;  // a receive is in flight,
  bool stopping = false;   // and is being cancelled
  bool resting = false;    // until a no-op ends with the next turn
  bool sending = false;    // a send is in flight: never two, because they could change places

 private:
  msghdr message_{};  // of the send in flight
  unsigned in_flight_ = 0;
  bool awaits_room_ = false;   // `sending` is only a poll for room
  bool copies_files_ = false;  // such a poll would end at once
  bool watching_ = false;      // for a reset
  bool letting_go_ = false;
  std::uint64_t turn_ = 0;    // the turn of the last receive,
  std::size_t received_ = 0;  // and its bytes
};

// The user data of an operation: the address of its owner (a peer, an acceptor or null), with the operation
// in the lowest bits, which the owner's alignment leaves free.
std::uint64_t uring_tag(UringOp op, const void* owner = nullptr);
UringOp op_of(const io_uring_cqe& cqe);
void* owner_of(const io_uring_cqe& cqe);

// What every loop on a ring begins and ends with. The first watches the stop and the inbox, and counts the
// features that are missing; the second waits for the end of all operations, and closes sockets accepted
// meanwhile.
void begin_ring(Uring& ring, const Stop& stop, Inbox& inbox, Tally& tally);
void end_ring(Uring& ring) noexcept;

// The peers of an engine are of its own type, derived from UringPeer.
template <typename Peer>
Peer* peer_of(const io_uring_cqe& cqe) {
  return static_cast<Peer*>(static_cast<UringPeer*>(owner_of(cqe)));
}

// That of Uring::upcoming(); null if it is not a peer's.
template <typename Peer>
const Peer* upcoming_peer(const Uring& ring, unsigned ahead) {
  const io_uring_cqe* const cqe = ring.upcoming(ahead);
  return cqe == nullptr || op_of(*cqe) == UringOp::accept ? nullptr : peer_of<Peer>(*cqe);
}

}  // namespace joust

#endif
