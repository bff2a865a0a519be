// SPDX-License-Identifier: MIT
// Needs Linux: io_uring is an interface of Linux
// Needs uring: liburing not found at build time: script/setup uring && script/build
//
// io-uring-pool: one thread drives the ring: it waits, accepts, receives and sends. A pool of workers (-t)
// does the rest: it computes, and reads and writes files.
//
//     main      io_uring_enter --> completions --> queue <---- deadlines, publications, the stop
//                     ^                              |
//     workers         |     +------------------------+ one peer for one worker
//                     |     v
//               back to main <-- output <-- session <-- bytes
//
// Good at: requests that compute for long or wait for a disk, with the sockets of thousands of peers in one
// system call a turn. Bad at: small messages. A worker must not use the ring, which belongs to the thread
// that made it, so each message passes from the main thread to a worker and back, through two locks, before
// its answer is submitted. A peer has at most one receive and one send in flight, and no receive while a
// worker still has the bytes of the last one: a peer that floods occupies one buffer, and a buffer is given
// back to the kernel by the main thread alone. `-t 0` does all of this in the main thread, to compare. Left
// out on purpose: a ring for each worker (that is several loops of io-uring), multishot receives and buffers
// that are filled piece by piece (both need the completions of a peer to be handled in order, by one thread).
#include "engines/io_uring/ring.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "engines/io_uring/kernel.hpp"
#include "engines/io_uring/on_ring.hpp"
#include "engines/loop/ready_io.hpp"
#include "engines/pool/pool_core_impl.hpp"

namespace joust {
namespace {

using Op = UringOp;

// A peer whose operations the main thread submits, and whose session works in a pool. When an operation
// completes, the main thread fills in the result and leaves a note; the holder that finds the note reads it.
// No second operation of the kind begins before the main thread has got the peer back, but the poll for a
// hang-up goes on.
struct UringPoolPeer : UringPeer, PoolPeer {
  using UringPeer::UringPeer;

  enum Event : unsigned { kReceived = 1, kSent = 2, kRoom = 4, kHungUp = 8 };
  struct Received {
    int result;
    unsigned flags;
    Bytes bytes;
  };
  std::optional<Received> arrived;  // set until its buffer is given back
  int sent_result = 0;
  std::atomic<int> hang_up_result = 0;  // the latest result: that poll goes on

  // Used by the holder:
  enum class Outgoing : std::uint8_t { nothing, pieces, room, submitted };
  bool consumed = false;                  // `arrived` has been handled
  Outgoing outgoing = Outgoing::nothing;  // for the main thread to submit
  std::array<iovec, 64> pieces{};         // many, because each send takes two hand-overs
  std::size_t count = 0;                  // the number of pieces to send
  bool asks_for_stop = false;             // the stop is to be passed to the session when the peer is quiet:
  bool is_quiet = false;                  // no receive is in flight, and none begins until then

  // Called by the main thread.
  void give_buffer_back(Uring& ring) {
    if (arrived && (arrived->flags & IORING_CQE_F_BUFFER) != 0)
      ring.buffers().give_back(arrived->result, arrived->flags);
    arrived.reset();
  }
};

class UringPool : public OnRing<PoolCore, UringPoolPeer> {
 public:
  UringPool(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index);
  void run();

 private:
  void completed(Peer& peer, Op op, const io_uring_cqe& cqe);
  void returned(Peer& peer) override;
  void receive(Peer& peer);
  bool let_go(Peer& peer) override;
  void be_quiet(Peer& peer);
  void stop_by_and_by() override;

  void exchange(Peer& peer, unsigned notes, std::size_t worker, Time now) override;
  void note_missing_splice(const Peer& peer);
  void prepare_output(Peer& peer, Time now);
  void read_rest(Peer& peer, Time now);
  bool may_tell_stop(Peer& peer) override;
  bool rest(Peer& /*peer*/) override { return false; }  // only the main thread may submit

  std::atomic_flag splice_missed_;
};

UringSetup setup_of(const Hosting& hosting) {
  UringSetup setup{.filled_buffers = 0, .multishot_receive = false};
  setup.buffers = 128;
  setup.buffer_bytes = std::min<std::size_t>(64 << 10, hosting.limits.read_bytes);
  setup.watched = hosting.options.wait != Wait::block;
  return setup;
}

UringPool::UringPool(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index)
    : OnRing(hosting, stop, group, index, setup_of(hosting)) {}

// The main thread.

void UringPool::run() {
  while (!over()) {
    start_dials();
    keep_accepting();
    wait(is_stopping() && !draining());
    ring_.take_completions([this](const io_uring_cqe& cqe) {
      if (Peer* const peer = take(cqe)) completed(*peer, op_of(cqe), cqe);
    });
    admit_newcomers();
    finish_turn();
  }
  note_overflow("io-uring-pool");
}

// The worker that holds the peer, if any, reads the results only when it finds the note.
void UringPool::completed(Peer& peer, Op op, const io_uring_cqe& cqe) {
  peer.completed(ring_, op, cqe);
  const bool has_buffer = (cqe.flags & IORING_CQE_F_BUFFER) != 0;
  if (peer.leaving && has_buffer) ring_.buffers().give_back(cqe);
  if (peer.leaving) return;
  if (op == Op::connect) return finish_dial(peer, -cqe.res);
  unsigned events = 0;  // none after a cancel: the holder then only checks the peer again
  if (op == Op::receive) {
    const bool has_bytes = has_buffer && cqe.res > 0;
    peer.arrived = {cqe.res, cqe.flags, has_bytes ? ring_.buffers().chunk(cqe) : Bytes{}};
    events = Peer::kReceived;
  } else if (op == Op::send) {
    peer.sent_result = cqe.res;
    events = Peer::kSent;
  } else if (op == Op::room) {
    events = Peer::kRoom;
  } else if (op == Op::hang_up) {
    peer.hang_up_result = cqe.res;
    events = Peer::kHungUp;
  }
  hand(peer, events * Holding::kEvents);
}

// Starts the operations that the connection wants and that are not in flight. A receive that found no buffer
// is repeated only now: meanwhile the workers have used up some of the buffers that are taken.
void UringPool::returned(Peer& peer) {
  if (std::exchange(peer.consumed, false)) peer.give_buffer_back(ring_);
  if (peer.outgoing == Peer::Outgoing::pieces)
    peer.send_pieces(ring_, std::span(peer.pieces).first(peer.count));
  if (peer.outgoing == Peer::Outgoing::room) peer.await_room(ring_);
  if (peer.outgoing != Peer::Outgoing::nothing) peer.outgoing = Peer::Outgoing::submitted;
  if (peer.arrived) return;
  if (peer.asks_for_stop) return be_quiet(peer);
  const bool wanted = peer.connection->wants_input();
  if (wanted && !peer.receiving) receive(peer);
  if (!wanted && peer.receiving && !peer.stopping) peer.cancel(ring_, Op::receive);
  if (!wanted) peer.watch_for_reset(ring_);
}

void UringPool::receive(Peer& peer) {
  io_uring_sqe* const entry = peer.prepare(ring_, Op::receive);
  io_uring_prep_recv(entry, peer.socket.get(), nullptr, 0, 0);
  entry->flags |= IOSQE_BUFFER_SELECT;
  entry->buf_group = ProvidedBuffers::kGroup;
}

bool UringPool::let_go(Peer& peer) {
  peer.give_buffer_back(ring_);
  return peer.let_go(ring_);
}

// Before a session gets the stop, its worker reads the bytes that have arrived. No receive may be in flight
// then, because bytes would change places. The completion of the receive brings the peer back.
void UringPool::be_quiet(Peer& peer) {
  if (peer.receiving && !peer.stopping) peer.cancel(ring_, Op::receive);
  if (peer.receiving) return;
  peer.is_quiet = true;
  hand(peer, Holding::kStop);
}

// The stop: the accepts end, the peers left in the queue are accepted, and the sessions are asked to finish.
void UringPool::stop_by_and_by() {
  if (end_accepts()) begin_drain();
}

// The steps of a peer's holder.

void UringPool::exchange(Peer& peer, unsigned notes, std::size_t /*worker*/, Time now) {
  const unsigned events = notes / Holding::kEvents;
  if ((events & (Peer::kSent | Peer::kRoom)) != 0) peer.outgoing = Peer::Outgoing::nothing;
  if ((events & Peer::kSent) != 0) peer.sent(peer.sent_result, now);
  if ((events & Peer::kReceived) != 0) {
    peer.consumed = true;
    note_missing_splice(peer);
    peer.received(peer.arrived->result, peer.arrived->bytes, now);
  }
  if ((events & Peer::kHungUp) != 0) peer.hung_up(peer.hang_up_result, now);
  if ((notes & Holding::kStop) != 0 && peer.is_quiet) read_rest(peer, now);
  if (peer.connection->ended()) return;
  const bool is_batching = (notes & Holding::kPublished) == 0 && awaits_publications();
  if (peer.outgoing == Peer::Outgoing::nothing && !is_batching && peer.connection->has_output())
    prepare_output(peer, now);
  if (peer.connection->wants_shutdown()) end_stream(peer.socket.get(), *peer.connection, now);
}

void UringPool::prepare_output(Peer& peer, Time now) {
  if (peer.send_files(now)) {
    peer.outgoing = Peer::Outgoing::room;
    return;
  }
  peer.count = peer.connection->output(peer.pieces, now);
  if (peer.count > 0) peer.outgoing = Peer::Outgoing::pieces;  // 0: reading a file has failed
}

void UringPool::read_rest(Peer& peer, Time now) {
  std::array<std::byte, 16 << 10> buffer;
  StreamConnection& connection = *peer.connection;
  const std::uint64_t quota = connection.bytes_received() + hosting().limits.read_bytes_per_turn;
  const std::size_t most = std::min(buffer.size(), hosting().limits.read_bytes);
  while (connection.wants_input() && connection.bytes_received() < quota)
    if (!receive_ready(peer.socket.get(), connection, std::span(buffer).first(most), false, now)) return;
}

bool UringPool::may_tell_stop(Peer& peer) {
  peer.asks_for_stop = !peer.is_quiet;
  return peer.is_quiet;
}

void UringPool::note_missing_splice(const Peer& peer) {
  if (!peer.live() || !peer.connection->store() || splice_missed_.test_and_set()) return;
  hosting().tally.note("io-uring-pool: no splice, files are written from the receive buffers");
}

}  // namespace

extern const Engine kIoUringPool{
    .name = "io-uring-pool",
    .summary = "one thread submits to the kernel, computing and file work on a pool of threads",
    .several_loops = true,
    .least_threads = 0,
    .threads_share_peers = true,
    .threads = "one, and -t workers (or 0)",
    .no_file_ring = "the kernel picks the buffer of each receive",
    .unavailable = uring_unavailable,
    .run = run_pool<UringPool>,
};

}  // namespace joust
