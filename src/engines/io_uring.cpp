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
// the last completion has come: a peer that leaves is destroyed only when nothing is in flight for it. Left
// out on purpose: fixed files, registered buffers and zero-copy, which win nothing for small messages.
#include "engines/common/uring.hpp"

#ifdef JOUST_HAVE_LIBURING

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "engines/common/loop_core.hpp"
#include "engines/common/patience.hpp"
#include "engines/common/ready_io.hpp"

namespace joust {
namespace {

// An operation's tag: what it is, in the lowest bits of its peer's address (or of none).
enum class Op : std::uint64_t { receive, send, connect, cancel, accept, inbox, stop };
constexpr std::uint64_t kOpMask = 15;

// An accept that goes on by itself takes what is in the queue at one go, whatever the connection limit; so
// near the limit peers are accepted one by one. The longest queue usual on Linux (net.core.somaxconn).
constexpr std::size_t kQueueAtMost = 4096;

// Ending a run waits this long for the kernel to let go of everything; it takes microseconds.
constexpr Duration kReapAtMost = std::chrono::seconds(1);

struct alignas(kOpMask + 1) Peer : LoopPeer {
  using LoopPeer::LoopPeer;
  unsigned in_flight = 0;       // operations whose last completion has not come
  bool receiving = false;       // a receive is in flight,
  bool stopping = false;        // and is being cancelled
  bool sending = false;         // a send is in flight: never two, or they could overtake one another
  bool touched = false;         // stands in touched_
  bool let_go = false;          // everything in flight is being cancelled
  std::uint64_t turn = 0;       // in which it last received,
  std::size_t received = 0;     // and how many bytes in that turn
  std::array<iovec, 8> pieces;  // of the send in flight
  msghdr message{};
};

std::uint64_t tag(Op op, const Peer* peer = nullptr) {
  return reinterpret_cast<std::uintptr_t>(peer) | static_cast<std::uint64_t>(op);
}

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
  void accepted(const io_uring_cqe& cqe);
  void received(Peer& peer, const io_uring_cqe& cqe);
  void sent(Peer& peer, int result);
  void cancel_failed(Peer& peer);
  void keep_accepting();
  void stop_accepting();
  void start_dials();
  void open(Peer& peer);
  void touch(Peer& peer);
  void rest(Peer& peer);
  void serve(Peer& peer);
  void receive(Peer& peer);
  void send(Peer& peer);
  void watch(int fd, Op op);
  void cancel(Op op, Peer& peer);
  bool let_go(Peer& peer);
  void stop_by_and_by();

  io_uring_sqe* prepare(Op op, Peer& peer) {
    ++peer.in_flight;
    return ring_.prepare(tag(op, &peer));
  }

  const Hosting& hosting_;
  Stop& stop_;
  Listener* listener_;  // loop 0's, until the stop
  bool accepting_ = false;
  bool accept_goes_on_ = false;  // until cancelled
  bool stopping_ = false;
  std::uint64_t turn_ = 0;
  Patience patience_;
  std::vector<Peer*> touched_;  // in this turn: may have output, or want input again
  std::vector<Peer*> resting_;  // used up their quota, and nothing in flight would bring them back
  LoopCore<Peer> core_;
  Uring ring_;  // the last member, so the first to go: the kernel has let go of the peers when they go
};

UringLoop::UringLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index,
                     const UringSetup& setup)
    : hosting_(hosting),
      stop_(stop),
      listener_(index == 0 ? hosting.listener : nullptr),
      patience_(hosting.options.wait),
      core_(hosting, stop, group, index),
      ring_(setup) {
  if (!ring_.missing().empty()) hosting.tally.note("io-uring: this kernel lacks " + ring_.missing());
  watch(stop_.fd(), Op::stop);
  watch(core_.inbox().waker().fd(), Op::inbox);
}

// What is in flight is cancelled and seen to its end. A socket accepted meanwhile is ours to close.
UringLoop::~UringLoop() {
  const Time until = Clock::now() + kReapAtMost;
  while (ring_.in_flight() > 0 && Clock::now() < until) {
    io_uring_prep_cancel64(ring_.prepare(tag(Op::cancel)), 0, IORING_ASYNC_CANCEL_ANY);
    ring_.submit_and_wait(kReapAtMost);
    ring_.take_completions([](const io_uring_cqe& cqe) {
      if (cqe.user_data == tag(Op::accept)) const Fd unwanted(cqe.res);
    });
  }
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
    core_.sweep([this](Peer& peer) { return let_go(peer); });
  }
  if (ring_.has_overflowed()) hosting_.tally.note("io-uring: the completion queue was full at times");
}

void UringLoop::wait() {
  const bool in_hurry = !resting_.empty() || (stopping_ && !core_.draining());
  ring_.submit_and_wait(in_hurry ? Duration::zero() : patience_.next_wait(core_.due(), core_.now()));
  core_.read_clock();
  ++turn_;
  if (ring_.has_completions()) patience_.found_work(core_.now());
  for (Peer* peer : std::exchange(resting_, {})) touch(*peer);
}

void UringLoop::dispatch(const io_uring_cqe& cqe) {
  const Op op = static_cast<Op>(cqe.user_data & kOpMask);
  const bool last = (cqe.flags & IORING_CQE_F_MORE) == 0;
  if (op == Op::accept) return accepted(cqe);
  if (op == Op::stop) stopping_ = true;
  if (op == Op::inbox) {
    for (Fd& socket : core_.inbox().take()) open(core_.add(std::move(socket)));
    if (last) watch(core_.inbox().waker().fd(), Op::inbox);
  }
  if (cqe.user_data <= kOpMask) return;
  Peer& peer = *reinterpret_cast<Peer*>(cqe.user_data & ~kOpMask);
  if (last) --peer.in_flight;
  if (op == Op::receive) received(peer, cqe);
  if (op == Op::send) sent(peer, cqe.res);
  if (op == Op::connect && core_.finish_dial(peer, -cqe.res)) serve(peer);
  if (op == Op::cancel && cqe.res < 0) cancel_failed(peer);
}

void UringLoop::accepted(const io_uring_cqe& cqe) {
  if ((cqe.flags & IORING_CQE_F_MORE) == 0) accepting_ = false;
  if (cqe.res >= 0) {
    Fd socket(cqe.res);
    hosting_.listener->note_facts(socket.get());
    if (auto mine = core_.deal(std::move(socket))) open(core_.add(std::move(*mine)));
  } else if (cqe.res != -ECANCELED && accept_outcome(-cqe.res) == AcceptOutcome::busy) {
    core_.pause_accepting();
  }
}

void UringLoop::received(Peer& peer, const io_uring_cqe& cqe) {
  if ((cqe.flags & IORING_CQE_F_MORE) == 0) peer.receiving = peer.stopping = false;
  if (peer.live()) {
    if (std::exchange(peer.turn, turn_) != turn_) peer.received = 0;
    if (cqe.res > 0) {
      peer.received += static_cast<std::size_t>(cqe.res);
      peer.connection->received(ring_.buffers().chunk(cqe), core_.now());
    } else if (cqe.res == 0) {
      peer.connection->peer_finished(core_.now());
    } else if (cqe.res != -ENOBUFS && cqe.res != -ECANCELED && cqe.res != -EINTR && cqe.res != -EAGAIN) {
      // The others mean: ask again. No buffer was free, or this loop has cancelled; nothing has been lost.
      peer.connection->failed({Stage::receive, -cqe.res, {}}, core_.now());
    }
    touch(peer);
  }
  if ((cqe.flags & IORING_CQE_F_BUFFER) != 0) ring_.buffers().give_back(cqe);
}

void UringLoop::sent(Peer& peer, int result) {
  peer.sending = false;
  if (!peer.live()) return;
  if (result >= 0)
    peer.connection->sent(static_cast<std::size_t>(result), core_.now());
  else if (result != -EINTR && result != -EAGAIN)
    peer.connection->failed({Stage::send, -result, {}}, core_.now());
  touch(peer);
}

// The operation was just about to complete, and has done so or will; if it is still in flight, it is
// cancelled again.
void UringLoop::cancel_failed(Peer& peer) {
  peer.stopping = peer.let_go = false;
  if (peer.live()) touch(peer);
}

void UringLoop::keep_accepting() {
  if (listener_ == nullptr || stopping_ || core_.accepting_paused()) return;
  const bool may_go_on = core_.room() > kQueueAtMost;
  if (accepting_ && accept_goes_on_ && !may_go_on) stop_accepting();
  if (accepting_) return;
  if (core_.full()) return core_.pause_accepting();
  io_uring_sqe* const entry = ring_.prepare(tag(Op::accept));
  if (may_go_on)
    io_uring_prep_multishot_accept(entry, listener_->fd(), nullptr, nullptr, SOCK_CLOEXEC);
  else
    io_uring_prep_accept(entry, listener_->fd(), nullptr, nullptr, SOCK_CLOEXEC);
  accepting_ = true;
  accept_goes_on_ = may_go_on;
}

void UringLoop::stop_accepting() {
  accept_goes_on_ = false;
  io_uring_prep_cancel64(ring_.prepare(tag(Op::cancel)), tag(Op::accept), 0);
}

void UringLoop::start_dials() {
  // Blocking sockets: io_uring waits for them itself, and would report EAGAIN on others.
  core_.start_dials(0, [this](Peer& peer, const Endpoint& to) {
    io_uring_prep_connect(prepare(Op::connect, peer), peer.socket.get(), to.raw(), to.size);
  });
}

void UringLoop::open(Peer& peer) {
  core_.open(peer);
  serve(peer);
}

void UringLoop::touch(Peer& peer) {
  if (!std::exchange(peer.touched, true)) touched_.push_back(&peer);
}

void UringLoop::rest(Peer& peer) {
  if (std::ranges::find(resting_, &peer) == resting_.end()) resting_.push_back(&peer);
}

// Starts what the connection wants now and is not under way. A peer beyond its quota is not received from
// until the next turn, so that it cannot use up the buffers all share.
void UringLoop::serve(Peer& peer) {
  peer.touched = false;
  StreamConnection& connection = *peer.connection;
  if (!peer.sending && connection.has_output()) send(peer);
  if (connection.wants_shutdown()) end_stream(peer.socket.get(), connection, core_.now());
  const bool beyond = peer.turn == turn_ && peer.received > hosting_.limits.read_bytes_per_turn;
  const bool wanted = connection.wants_input() && !beyond;
  if (wanted && !peer.receiving) receive(peer);
  if (beyond && !peer.receiving && connection.wants_input()) rest(peer);
  if (!wanted && peer.receiving && !std::exchange(peer.stopping, true)) cancel(Op::receive, peer);
  core_.settle(peer);
}

void UringLoop::receive(Peer& peer) {
  io_uring_sqe* const entry = prepare(Op::receive, peer);
  if (ring_.multishot_receive())
    io_uring_prep_recv_multishot(entry, peer.socket.get(), nullptr, 0, 0);
  else
    io_uring_prep_recv(entry, peer.socket.get(), nullptr, 0, 0);
  entry->flags |= IOSQE_BUFFER_SELECT;
  entry->buf_group = ProvidedBuffers::kGroup;
  peer.receiving = true;
}

// The bytes stay where they are until sent() has been called, so the kernel may read them when it likes. No
// MSG_WAITALL: a peer that reads slowly is then seen to move.
void UringLoop::send(Peer& peer) {
  const std::size_t count = peer.connection->output(peer.pieces);
  io_uring_sqe* const entry = prepare(Op::send, peer);
  if (count == 1) {
    io_uring_prep_send(entry, peer.socket.get(), peer.pieces[0].iov_base, peer.pieces[0].iov_len,
                       MSG_NOSIGNAL);
  } else {
    peer.message.msg_iov = peer.pieces.data();
    peer.message.msg_iovlen = count;
    io_uring_prep_sendmsg(entry, peer.socket.get(), &peer.message, MSG_NOSIGNAL);
  }
  peer.sending = true;
}

// Reports each time `fd` becomes readable.
void UringLoop::watch(int fd, Op op) {
  io_uring_prep_poll_multishot(ring_.prepare(tag(op)), fd, POLLIN);
}

void UringLoop::cancel(Op op, Peer& peer) {
  io_uring_prep_cancel64(prepare(Op::cancel, peer), tag(op, &peer), 0);
}

// True when nothing is in flight for a peer that leaves. close() alone would neither cancel nor send the end
// of the stream while an operation holds the socket.
bool UringLoop::let_go(Peer& peer) {
  std::erase(resting_, &peer);
  if (peer.in_flight == 0) return true;
  if (!std::exchange(peer.let_go, true)) {
    ::shutdown(peer.socket.get(), SHUT_RDWR);
    if (!peer.connection) cancel(Op::connect, peer);
    if (peer.receiving && !peer.stopping) cancel(Op::receive, peer);
    if (peer.sending) cancel(Op::send, peer);
  }
  return false;
}

// First the accept has to end; then those who wait in the queue are taken in; then, a turn later, what they
// have sent has arrived like everything sent before the stop, and sessions are told to finish.
void UringLoop::stop_by_and_by() {
  if (core_.draining()) return;
  if (listener_ != nullptr && !stop_.at_once()) {
    if (accepting_) return stop_accepting();
    if (!core_.accepting_paused())
      core_.accept_peers(*listener_, 0, [this](Fd socket) { open(core_.add(std::move(socket))); });
    return std::exchange(listener_, nullptr)->close();
  }
  core_.begin_drain([this](Peer& peer) { serve(peer); });
}

}  // namespace

void run_io_uring(const Hosting& hosting, Stop& stop, const UringSetup& setup) {
  LoopGroup group(hosting.options.threads);
  run_loops(group.size(), stop,
            [&](std::size_t index) { UringLoop(hosting, stop, group, index, setup).run(); });
}

namespace {

void run(const Hosting& hosting, Stop& stop) {
  UringSetup setup;
  setup.buffer_bytes = std::min(setup.buffer_bytes, hosting.limits.read_bytes);
  setup.kernel_submits = hosting.options.is("sqpoll", "on");
  setup.watched = hosting.options.wait != Wait::block && !setup.kernel_submits;
  run_io_uring(hosting, stop, setup);
}

}  // namespace
}  // namespace joust

#endif

namespace joust {
namespace {

#ifndef JOUST_HAVE_LIBURING
constexpr auto run = nullptr;
std::string uring_unavailable() {
  return "liburing not found at build time";
}
#endif

constexpr std::array<std::string_view, 2> kSqpoll{"off", "on"};
constexpr std::array kKnobs{
    Knob{"sqpoll", kSqpoll, "a thread of the kernel submits, on a core of its own, and the loop need not"}};

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
