// SPDX-License-Identifier: MIT
// Needs Linux: io_uring is an interface of Linux
// Needs uring: liburing not found at build time: script/setup uring && script/build
//
// io_uring: one thread submits operations to the kernel and handles their completions.
//
//     io_uring_enter --> for each completion:  bytes --> session     --> for each peer touched:  send
//          ^             (accepted, received, sent)                                                |
//          +--- operations of the next turn <--- deadlines <--- publications <---------------------+
//
// Good at: many busy connections. One system call submits all sends of a turn and waits for completions; a
// multishot receive stays armed and takes a provided buffer when bytes arrive. Bad at: few busy connections,
// and large transfers: an operation costs more than a plain send() or recv(), which pays only if one enter
// submits many. The memory of an operation must live until its last completion, so a leaving peer is
// destroyed only when none of its operations are in flight. Files are sent by sendfile() from the loop. The
// knobs (io_uring/knobs.cpp) are flags of io_uring: each changes how the ring is set up, or one preparation
// below. Left out on purpose: splice and readv (a multishot receive picks its buffer), and bundles of sends
// (a ring of buffers for each connection).
#include "engines/io_uring/ring.hpp"

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "connection/tally.hpp"
#include "engines/io_uring/kernel.hpp"
#include "engines/io_uring/knobs.hpp"
#include "engines/io_uring/on_ring.hpp"
#include "engines/loop/loop_core_impl.hpp"
#include "engines/loop/ready_io.hpp"

namespace joust {
namespace {

// How long a stop waits, with SQPOLL, for the kernel's thread to receive bytes that have arrived.
constexpr Duration kArrivals = std::chrono::milliseconds(200);

using Op = UringOp;

struct UringLoopPeer : UringPeer {
  using UringPeer::UringPeer;
  std::array<iovec, 8> pieces{};  // of the send in flight
};

// Reports once, in the results of a run, that the kernel copied what it was asked to send without a copy.
class CopyReport {
 public:
  // Call it when a send of the peer has completed, with its last completion. Bytes on loopback are copied
  // when they change from the sending socket to the receiving one: the memory of the sender must not wait for
  // a reader that may never read.
  void completed(const UringPeer& peer, const io_uring_cqe& cqe, Tally& tally) {
    const bool is_notice = (cqe.flags & IORING_CQE_F_NOTIF) != 0;
    if (is_notice && (static_cast<unsigned>(cqe.res) & kWasCopied) != 0 && !std::exchange(copied_, true))
      tally.note(
          "sends=zero-copy: the kernel copied all the same, as it does on loopback and on unix sockets");
    if (peer.copies_sends() && !std::exchange(refused_, true))
      tally.missing(
          "zero-copy sends: the kernel refused some, as if too little memory may be locked (ulimit -l)");
  }

 private:
  bool copied_ = false;
  bool refused_ = false;
};

class UringLoop : public OnRing<LoopCore, UringLoopPeer> {
 public:
  using OnRing::OnRing;
  ~UringLoop() override;
  void run();

 private:
  bool may_stop() const;
  void completed(Peer& peer, Op op, const io_uring_cqe& cqe);
  void received(Peer& peer, const io_uring_cqe& cqe);
  void serve(Peer& peer) override;
  bool let_go(Peer& peer) override { return peer.let_go(ring_); }
  void receive(Peer& peer);
  void send(Peer& peer);
  void stop_by_and_by();

  std::optional<Time> all_in_;  // during a stop: when all accepted connections were open here
  bool splice_missed_ = false;
  CopyReport copies_;
  std::uint64_t turn_ = 0;
  Queue<Peer> touched_;  // peers of this turn that may have output, or want input again
};

UringLoop::~UringLoop() {
  for (const auto& peer : peers()) peer->end_output();
}

void UringLoop::run() {
  while (!over()) {
    start_dials();
    keep_accepting();
    wait(may_stop());
    ++turn_;
    ring_.take_completions([this](const io_uring_cqe& cqe) {
      fetch_ahead(upcoming_peer<Peer>(ring_, 3),
                  upcoming_peer<Peer>(ring_, 6));  // memory is slower than one completion
      if (Peer* const peer = take(cqe)) completed(*peer, op_of(cqe), cqe);
    });
    admit_newcomers();
    while (Peer* peer = touched_.pop()) attend(*peer);
    fire_deadlines();
    pass_publications();
    if (is_stopping()) stop_by_and_by();
    sweep();
  }
  note_overflow("io-uring");
}

bool UringLoop::may_stop() const {
  return is_stopping() && !draining() && (!listeners().empty() || may_drain());
}

void UringLoop::completed(Peer& peer, Op op, const io_uring_cqe& cqe) {
  peer.completed(ring_, op, cqe);
  stamp();
  guarded(peer, [&] {
    if (op == Op::receive) received(peer, cqe);
    if (op == Op::send && !peer.sending) peer.sent(peer.send_result(), now());
    if (op == Op::hang_up) peer.hung_up(cqe.res, now());
  });
  if (op == Op::send && !peer.sending) copies_.completed(peer, cqe, hosting().tally);
  if ((cqe.flags & IORING_CQE_F_BUFFER) != 0) ring_.buffers().give_back(cqe);
  if (op == Op::connect) finish_dial(peer, -cqe.res);
  if (!peer.leaving) touched_.push(peer);
}

void UringLoop::received(Peer& peer, const io_uring_cqe& cqe) {
  if (cqe.res <= 0) return peer.received(cqe.res, {}, now());
  peer.count(static_cast<std::size_t>(cqe.res), turn_);
  if (!splice_missed_ && peer.live() && (splice_missed_ = peer.connection->store().has_value()))
    hosting().tally.note("io-uring: no splice, files are written from the receive buffers");
  ring_.buffers().for_each_chunk(cqe, [&](Bytes chunk) { peer.received(cqe.res, chunk, now()); });
}

// Starts the operations that the connection wants and that are not in flight. A peer beyond its read quota is
// not received from until the next turn, so that it cannot use up the shared buffers.
void UringLoop::serve(Peer& peer) {
  StreamConnection& connection = *peer.connection;
  if (!peer.sending && !is_batching() && connection.has_output()) send(peer);
  if (connection.wants_shutdown()) end_stream(peer.socket.get(), connection, now());
  const bool beyond = peer.received_in(turn_) > hosting().limits.read_bytes_per_turn;
  const bool wanted = connection.wants_input() && !beyond;
  if (wanted && !peer.receiving) receive(peer);
  if (!wanted && peer.receiving && !peer.stopping) peer.cancel(ring_, Op::receive);
  if (!wanted && !beyond) peer.watch_for_reset(ring_);
  // The receive may have ended before it was cancelled; then only this no-op brings the peer back.
  if (beyond && !peer.receiving && !peer.resting) io_uring_prep_nop(peer.prepare(ring_, Op::rest));
}

void UringLoop::receive(Peer& peer) {
  io_uring_sqe* const entry = peer.prepare(ring_, Op::receive);
  if (ring_.setup().multishot_receive)
    io_uring_prep_recv_multishot(entry, peer.socket.get(), nullptr, 0, 0);
  else
    io_uring_prep_recv(entry, peer.socket.get(), nullptr, 0, 0);
  if (ring_.setup().bundled_receive) entry->ioprio |= kBundle;
  entry->flags |= IOSQE_BUFFER_SELECT;
  entry->buf_group = ProvidedBuffers::kGroup;
  peer.aim(ring_, *entry);
}

void UringLoop::send(Peer& peer) {
  if (peer.send_files(now())) return peer.await_room(ring_);
  const std::size_t count = peer.connection->output(peer.pieces, now());
  if (count > 0)
    peer.send_pieces(
        ring_,
        std::span(peer.pieces).first(count));  // 0: reading a file has failed, and no other output exists
}

// The stop. The accepts end; loop 0 accepts the peers left in the queue, and each loop admits the peers dealt
// to it. A turn later the bytes sent before the stop have arrived, and the sessions are asked to finish.
void UringLoop::stop_by_and_by() {
  if (draining() || !end_accepts() || !may_drain()) return;
  if (!all_in_) {
    all_in_ = now();
    return admit_dealt();
  }
  if (!ring_.setup().kernel_submits || has_caught_up() || now() > *all_in_ + kArrivals) begin_drain();
}

}  // namespace

void run_io_uring(const Hosting& hosting, Stop& stop, UringSetup setup) {
  run_loops<UringLoop>(hosting, stop, with_knobs(setup, hosting.options, hosting.limits));
}

extern const Engine kIoUring{
    .name = "io-uring",
    .summary = "completions instead of readiness: one system call for many operations",
    .several_loops = true,
    .does_chores = true,
    .threads = "one per loop (-t)",
    .no_file_ring = "the kernel picks the buffer of each receive",
    .knobs = kUringKnobs,
    .decided = decided_uring_knob,
    .unavailable = uring_unavailable,
    .run = [](const Hosting& hosting, Stop& stop) { run_io_uring(hosting, stop, {}); },
};

}  // namespace joust
