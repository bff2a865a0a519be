// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "engines/io_uring/ring.hpp"
#include "engines/loop/loop_core.hpp"
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
  // Lets a prepared receive or send name the socket by its place in the ring's table, if the ring has one.
  void aim(Uring& ring, io_uring_sqe& entry);

  // Records a completion. Call it before received(), sent() or hung_up(). A zero-copy send has two: its
  // result, and later the notice that its memory is no longer used. Only then is it complete.
  void completed(Uring& ring, UringOp op, const io_uring_cqe& cqe);

  // Handle the completions of a receive and of a send. `bytes` is empty unless the result is positive.
  void received(int result, Bytes bytes, Time now);
  void sent(int result, Time now);
  int send_result() const { return send_result_; }  // of the send that has completed
  bool copies_sends() const { return copies_sends_; }

  // Sends `pieces`, which stay in place until the send completes. The output stays too, until sent(): the
  // kernel may read both at any time.
  void send_pieces(Uring& ring, std::span<iovec> pieces);

  // Detects a reset while no operation is in flight, because nothing is wanted from the peer. (A reset
  // completes all operations in flight.) A poll without events detects it. A poll of io_uring also reports
  // when the peer has ended its direction of the stream, which lasts. So the poll is a multishot: it reports
  // changes, and goes on.
  void watch_for_reset(Uring& ring);
  void hung_up(int result, Time now);

  // Sends a file that comes first in the output: by sendfile(), until the socket is full or a turn is over;
  // await_room(), a poll, is to follow. Returns false if other output comes first, or if the file has to be
  // read. A poll of io_uring also ends when the peer has ended its direction of the stream, which lasts. From
  // then on files are read, and the send waits for room.
  bool send_files(Time now);
  void await_room(Uring& ring);

  // Returns true if the socket holds bytes that the connection wants.
  bool has_unread() const;

  // Cancels the operations in flight of a peer that leaves. Returns true when none is left. close() alone
  // would neither cancel them nor send the end of the stream while an operation holds the socket.
  bool let_go(Uring& ring);
  // Ends the direction of output now. The kernel uses the memory of a zero-copy send until the peer has
  // acknowledged it, which may be never, or until the connection is reset.
  void end_output();

  // Counts received bytes for each turn.
  void count(std::size_t bytes, std::uint64_t turn);
  std::size_t received_in(std::uint64_t turn) const { return turn == turn_ ? received_ : 0; }

  bool receiving = false;  // a receive is in flight,
  bool stopping = false;   // and is being cancelled
  bool resting = false;    // set until a no-op ends with the next turn
  bool sending = false;    // a send is in flight: never two, because they could change places

 private:
  msghdr message_{};           // of the send in flight
  std::optional<Bytes> slot_;  // the registered memory of the send in flight
  int send_result_ = 0;
  unsigned in_flight_ = 0;
  std::optional<bool> in_table_;  // the socket is in the ring's table; nothing: not tried yet
  bool zero_copy_ = false;        // the send in flight is a zero-copy send
  bool copies_sends_ = false;     // the kernel has refused a zero-copy send of this socket
  bool awaits_room_ = false;      // `sending` is only a poll for room
  bool copies_files_ = false;     // files are read, because such a poll would end at once
  bool watching_ = false;         // a poll for a reset is in flight
  bool letting_go_ = false;
  std::uint64_t turn_ = 0;    // the turn of the last receive,
  std::size_t received_ = 0;  // and its bytes
};

// The user data of an operation: the address of its owner (a peer, an acceptor or null), with the operation
// in the lowest bits, which the owner's alignment leaves free.
std::uint64_t uring_tag(UringOp op, const void* owner = nullptr);
UringOp op_of(const io_uring_cqe& cqe);
void* owner_of(const io_uring_cqe& cqe);

// Returns the peer that owns a completion. The peers of an engine are of its own type, derived from
// UringPeer.
template <typename Peer>
Peer* peer_of(const io_uring_cqe& cqe) {
  return static_cast<Peer*>(static_cast<UringPeer*>(owner_of(cqe)));
}

// Returns the peer of the completion Uring::upcoming(); null if that completion is not a peer's.
template <typename Peer>
const Peer* upcoming_peer(const Uring& ring, unsigned ahead) {
  const io_uring_cqe* const cqe = ring.upcoming(ahead);
  return cqe == nullptr || op_of(*cqe) == UringOp::accept ? nullptr : peer_of<Peer>(*cqe);
}

}  // namespace joust
