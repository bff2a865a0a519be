// SPDX-License-Identifier: MIT
//
// io_uring: one thread hands the kernel operations to carry out, and takes in what has come of them.
//
//     io_uring_enter --> for each completion:  bytes --> session     --> for each peer touched:  send
//          ^             (accepted, received, sent)                                                |
//          +--- operations of the next turn <--- deadlines <--- publications <---------------------+
//
// Good at: many busy connections. One system call submits all sends of a turn and waits for the next; a
// receive is asked for once and goes on by itself, into buffers the kernel picks when bytes arrive. Bad at:
// few busy connections, and large transfers: each operation costs more than a bare send() or recv() does, and
// that is won back only where one enter carries many. Whoever starts an operation must keep its memory until
// the last completion has come: a peer that leaves is destroyed only when nothing is in flight for it. Files
// are sent by sendfile(), from the loop. Left out on purpose: splice, because what a multishot receive has
// taken is in memory; fixed files, registered buffers and zero-copy, which win nothing for small messages.
#include "engines/io_uring/ring.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#ifdef JOUST_HAVE_LIBURING

#include <poll.h>
#include <sys/socket.h>

#include "engines/loop/patience.hpp"
#include "engines/loop/ready_io.hpp"
#include "engines/io_uring/acceptor.hpp"
#include "engines/io_uring/peer.hpp"

namespace joust {
namespace {

using Peer = UringPeer;
using Op = UringOp;

class UringLoop {
 public:
  UringLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index, const UringSetup& setup);
  ~UringLoop();
  UringLoop(const UringLoop&) = delete;
  UringLoop& operator=(const UringLoop&) = delete;
  void run();

 private:
  void wait();
  void dispatch(const io_uring_cqe& cqe);
  void open_dealt();
  void accepted(const io_uring_cqe& cqe);
  void received(Peer& peer, const io_uring_cqe& cqe);
  void keep_accepting();
  void start_dials();
  void open(Peer& peer);
  void serve(Peer& peer);
  void receive(Peer& peer);
  void send(Peer& peer);
  void watch(int fd, Op op);
  void stop_by_and_by();

  const Hosting& hosting_;
  Stop& stop_;
  Listener* listener_;  // loop 0's, until the stop
  bool stopping_ = false;
  bool all_in_ = false;  // every connection there will be is open here (while stopping)
  bool splice_missed_ = false;
  std::uint64_t turn_ = 0;
  Patience patience_;
  std::vector<Peer*> touched_;  // in this turn: may have output, or want input again
  LoopCore<Peer> core_;
  Uring ring_;  // behind the peers, so that it goes first
  UringAcceptor acceptor_;
};

UringLoop::UringLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index,
                     const UringSetup& setup)
    : hosting_(hosting),
      stop_(stop),
      listener_(index == 0 && hosting.serves() ? hosting.listeners.front() : nullptr),
      patience_(hosting.options.wait),
      core_(hosting, stop, group, index),
      ring_(setup),
      acceptor_(ring_, uring_tag(Op::accept), uring_tag(Op::cancel)) {
  for (const std::string& feature : ring_.missing()) hosting.tally.missing(feature);
  watch(stop_.fd(), Op::stop);
  watch(core_.inbox().waker().fd(), Op::inbox);
}

// What is in flight is cancelled and seen to its end. A socket accepted meanwhile is ours to close.
UringLoop::~UringLoop() {
  ring_.abandon([](const io_uring_cqe& cqe) {
    if (cqe.user_data == uring_tag(Op::accept)) const Fd unwanted(cqe.res);
  });
}

void UringLoop::run() {
  const auto serve_peer = [this](Peer& peer) { serve(peer); };
  while (!core_.over()) {
    start_dials();
    keep_accepting();
    wait();
    ring_.take_completions([this](const io_uring_cqe& cqe) { dispatch(cqe); });
    for (Peer* peer : touched_) serve(*peer);
    touched_.clear();
    core_.fire_deadlines(serve_peer);
    core_.pass_publications(serve_peer);
    if (stopping_) stop_by_and_by();
    core_.sweep([this](Peer& peer) { return peer.let_go(ring_); });
  }
  if (ring_.has_overflowed()) hosting_.tally.note("io-uring: the completion queue was full at times");
}

void UringLoop::wait() {
  const bool in_hurry = stopping_ && !core_.draining() && (listener_ != nullptr || core_.may_drain());
  ring_.submit_and_wait(in_hurry ? Duration::zero() : patience_.next_wait(core_.due(), core_.now()));
  core_.read_clock();
  ++turn_;
  if (ring_.has_completions()) patience_.found_work(core_.now());
}

void UringLoop::dispatch(const io_uring_cqe& cqe) {
  const Op op = op_of(cqe);
  if (op == Op::stop) stopping_ = true;
  if (op == Op::inbox) {
    open_dealt();
    if ((cqe.flags & IORING_CQE_F_MORE) == 0) watch(core_.inbox().waker().fd(), Op::inbox);
  }
  if (op == Op::accept) accepted(cqe);
  Peer* const peer = peer_of(cqe);
  if (peer == nullptr) return;
  peer->completed(op, cqe);
  if (op == Op::receive) received(*peer, cqe);
  if (op == Op::send) peer->sent(cqe.res, core_.now());
  if (op == Op::connect) core_.finish_dial(*peer, -cqe.res);
  if (peer->connection && !std::exchange(peer->touched, true)) touched_.push_back(peer);
}

// Those another loop has accepted for this one.
void UringLoop::open_dealt() {
  for (Fd& socket : core_.inbox().take()) open(core_.add(std::move(socket)));
}

void UringLoop::keep_accepting() {
  if (listener_ == nullptr || stopping_ || core_.accepting_paused()) return;
  if (core_.full() && !acceptor_.in_flight()) return core_.pause_accepting();
  acceptor_.keep_on(*listener_, core_.room());
}

void UringLoop::accepted(const io_uring_cqe& cqe) {
  Accepted accepted = acceptor_.completed(cqe, *listener_);
  if (accepted.outcome == AcceptOutcome::busy) core_.pause_accepting();
  if (accepted.outcome != AcceptOutcome::accepted) return;
  if (auto mine = core_.deal(std::move(accepted.socket))) open(core_.add(std::move(*mine)));
}

void UringLoop::received(Peer& peer, const io_uring_cqe& cqe) {
  constexpr std::array kAskAgain{-ENOBUFS, -ECANCELED, -EINTR, -EAGAIN};  // nothing has been lost
  if (peer.live()) {
    if (cqe.res > 0) {
      peer.count(static_cast<std::size_t>(cqe.res), turn_);
      if (!splice_missed_ && (splice_missed_ = peer.connection->store().has_value()))
        hosting_.tally.note("io-uring: no splice, files are written from the receive buffers");
      peer.connection->received(ring_.buffers().chunk(cqe), core_.now());
    } else if (cqe.res == 0) {
      peer.connection->peer_finished(core_.now());
    } else if (std::ranges::find(kAskAgain, cqe.res) == kAskAgain.end()) {
      peer.connection->failed({Stage::receive, -cqe.res, {}}, core_.now());
    }
  }
  if ((cqe.flags & IORING_CQE_F_BUFFER) != 0) ring_.buffers().give_back(cqe);
}

void UringLoop::start_dials() {
  // Blocking sockets: io_uring waits for them itself, and would report EAGAIN on others.
  core_.start_dials(0, [this](Peer& peer, const Endpoint& to) {
    io_uring_prep_connect(peer.prepare(ring_, Op::connect), peer.socket.get(), to.raw(), to.size);
  });
}

void UringLoop::open(Peer& peer) {
  core_.open(peer);
  serve(peer);
}

// Starts what the connection wants now and is not under way. A peer beyond its quota is not received from
// until the next turn, so that it cannot use up the buffers all share.
void UringLoop::serve(Peer& peer) {
  peer.touched = false;
  StreamConnection& connection = *peer.connection;
  if (!peer.sending && !core_.is_gathering() && connection.has_output()) send(peer);
  if (connection.wants_shutdown()) end_stream(peer.socket.get(), connection, core_.now());
  const bool beyond = peer.received_in(turn_) > hosting_.limits.read_bytes_per_turn;
  const bool wanted = connection.wants_input() && !beyond;
  if (wanted && !peer.receiving) receive(peer);
  if (!wanted && peer.receiving && !peer.stopping) peer.cancel(ring_, Op::receive);
  // Its receive may have ended before it was cancelled; then nothing else in flight would bring it back.
  if (beyond && !peer.receiving && !peer.resting) io_uring_prep_nop(peer.prepare(ring_, Op::rest));
  core_.settle(peer);
}

void UringLoop::receive(Peer& peer) {
  io_uring_sqe* const entry = peer.prepare(ring_, Op::receive);
  if (ring_.multishot_receive())
    io_uring_prep_recv_multishot(entry, peer.socket.get(), nullptr, 0, 0);
  else
    io_uring_prep_recv(entry, peer.socket.get(), nullptr, 0, 0);
  entry->flags |= IOSQE_BUFFER_SELECT;
  entry->buf_group = ProvidedBuffers::kGroup;
}

// The bytes stay where they are until sent() has been called, so the kernel may read them when it likes. No
// MSG_WAITALL: a peer that reads slowly is then seen to move.
void UringLoop::send(Peer& peer) {
  if (peer.send_file(ring_, core_.now())) return;
  const std::size_t count = peer.connection->output(peer.pieces, core_.now());
  if (count == 0) return;  // a file that failed left nothing to send
  io_uring_sqe* const entry = peer.prepare(ring_, Op::send);
  if (count == 1) {
    io_uring_prep_send(entry, peer.socket.get(), peer.pieces[0].iov_base, peer.pieces[0].iov_len,
                       MSG_NOSIGNAL);
  } else {
    peer.message.msg_iov = peer.pieces.data();
    peer.message.msg_iovlen = count;
    io_uring_prep_sendmsg(entry, peer.socket.get(), &peer.message, MSG_NOSIGNAL);
  }
}

// Reports each time `fd` becomes readable.
void UringLoop::watch(int fd, Op op) {
  io_uring_prep_poll_multishot(ring_.prepare(uring_tag(op)), fd, POLLIN);
}

// First the accept has to end; then loop 0 takes in those who wait in the queue, and each loop what it has
// been dealt; then, a turn later, what they have sent has arrived like everything sent before the stop, and
// sessions are told to finish.
void UringLoop::stop_by_and_by() {
  if (core_.draining()) return;
  if (listener_ != nullptr) {
    if (acceptor_.in_flight()) return acceptor_.cancel();
    if (!core_.accepting_paused())
      core_.accept_peers(*listener_, 0, [this](Fd socket) { open(core_.add(std::move(socket))); });
    std::exchange(listener_, nullptr)->close();
    core_.end_dealing();
  }
  if (!core_.may_drain()) return;
  if (!std::exchange(all_in_, true)) return open_dealt();
  core_.begin_drain([this](Peer& peer) { serve(peer); });
}

}  // namespace

void run_io_uring(const Hosting& hosting, Stop& stop, UringSetup setup) {
  for (std::size_t* const bytes : {&setup.buffer_bytes, &setup.filled_bytes})
    *bytes = std::min(*bytes, hosting.limits.read_bytes);
  setup.kernel_submits = hosting.options.is("sqpoll", "on");
  setup.watched = hosting.options.wait != Wait::block && !setup.kernel_submits;
  LoopGroup group(hosting.options.threads);
  run_loops(group.size(), stop,
            [&](std::size_t index) { UringLoop(hosting, stop, group, index, setup).run(); });
}

}  // namespace joust

#endif

namespace joust {
namespace {

#ifdef JOUST_HAVE_LIBURING
void run(const Hosting& hosting, Stop& stop) {
  run_io_uring(hosting, stop, {});
}
#else
constexpr auto run = nullptr;
#endif

constexpr std::array<std::string_view, 2> kSqpoll{"off", "on"};
constexpr std::array kKnobs{
    Knob{"sqpoll", kSqpoll,
         "a thread of the kernel submits, and the loop need not; it wants a CPU of its own (--cpus)", "on"}};

}  // namespace

extern const Engine kIoUring{
    .name = "io-uring",
    .summary = "completions instead of readiness: one system call for the operations of many sockets",
    .several_loops = true,
    .threads = "one per loop (-t)",
    .wait_ignored = {},
    .knobs = kKnobs,
    .unavailable = uring_unavailable,
    .run = run,
};

}  // namespace joust
