// SPDX-License-Identifier: MIT
//
// epoll: one thread asks the kernel which of thousands of sockets are ready, and serves those.
//
//     epoll_pwait2 --> for each ready socket:  recv --> session --> send
//          ^                                                         |
//          +---- deadlines <---- publications <---- the unfinished --+
//
// Good at: many connections, few of them busy; large transfers. The cost of a wait follows the ready, not the
// open. Bad at:  one busy connection (three system calls for a message), and nothing overlaps with the system
// calls. Edge-triggered (the default), the kernel speaks once when a socket becomes ready, so the loop must
// remember what it was told until recv or send has said that it is over. Level-triggered, the kernel repeats
// itself, so the loop must ask only for what it can use, and pays an epoll_ctl whenever that changes. Left
// out on purpose: EPOLLONESHOT and EPOLLEXCLUSIVE. A socket belongs to one loop for life. Where a file asks
// for it, sendfile and splice take the place of send and recv: files/file_io.hpp.
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/check.hpp"
#include "engines/files/file_io.hpp"
#include "engines/loop/loop_core.hpp"
#include "engines/loop/patience.hpp"
#include "engines/loop/ready_io.hpp"

namespace joust {
namespace {

constexpr std::size_t kEventsPerTurn = 512;
constexpr unsigned kSendsPerTurn = 16;
constexpr std::uint32_t kUnwatched = ~0U;

struct Peer : LoopPeer {
  using LoopPeer::LoopPeer;
  std::uint32_t armed = kUnwatched;  // the events the kernel was asked for
  bool readable = false;             // the kernel said so, and recv has not said otherwise since
  bool writable = true;              // send has not said otherwise
  bool end_is_near = false;          // the peer's end or an error is waiting to be read
  bool unfinished = false;           // stands in unfinished_
};

class EpollLoop {
 public:
  EpollLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index);
  void run();

 private:
  std::span<epoll_event> wait();
  void dispatch(const epoll_event& event);
  void open_dealt();
  void accept_peers();
  void start_dials();
  void open(Peer& peer);
  void serve(Peer& peer);
  bool receive(Peer& peer);
  void flush(Peer& peer);
  void rearm(Peer& peer);
  void resume_unfinished();
  void stop_by_and_by();
  void watch(int fd, int operation, std::uint32_t events, void* tag);

  const Hosting& hosting_;
  Stop& stop_;
  Listener* listener_;  // loop 0's, until the stop
  bool listening_ = false;
  bool stopping_ = false;
  const bool edge_;
  Patience patience_;
  std::vector<std::byte> buffer_;
  FilePipe pipe_;
  std::array<epoll_event, kEventsPerTurn> events_{};
  std::vector<Peer*> unfinished_;  // more to read or to send than one turn's quota
  Fd epoll_;
  LoopCore<Peer> core_;
};

EpollLoop::EpollLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index)
    : hosting_(hosting),
      stop_(stop),
      listener_(index == 0 && hosting.serves() ? hosting.listeners.front() : nullptr),
      edge_(!hosting.options.is("trigger", "level")),
      patience_(hosting.options.wait),
      buffer_(hosting.limits.read_bytes),
      epoll_(checked(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1()")),
      core_(hosting, stop, group, index) {
  watch(stop_.fd(), EPOLL_CTL_ADD, EPOLLIN, &stop_);
  watch(core_.inbox().waker().fd(), EPOLL_CTL_ADD, EPOLLIN, &core_);
}

void EpollLoop::run() {
  const auto serve_peer = [this](Peer& peer) { serve(peer); };
  while (!core_.over()) {
    start_dials();
    for (const epoll_event& event : wait()) dispatch(event);
    resume_unfinished();
    core_.fire_deadlines(serve_peer);
    core_.pass_publications(serve_peer);
    if (stopping_) stop_by_and_by();
    core_.sweep();
  }
}

std::span<epoll_event> EpollLoop::wait() {
  // A queue that may not be emptied now would wake a level-triggered loop again and again.
  if (listener_ != nullptr && listening_ == core_.accepting_paused()) {
    watch(listener_->fd(), listening_ ? EPOLL_CTL_DEL : EPOLL_CTL_ADD, EPOLLIN, listener_);
    listening_ = !listening_;
  }
  const Duration most =
      unfinished_.empty() ? patience_.next_wait(core_.due(), core_.now()) : Duration::zero();
  const timespec timeout = to_timespec(most);
  const int ready = ::epoll_pwait2(epoll_.get(), events_.data(), kEventsPerTurn, &timeout, nullptr);
  core_.read_clock();
  if (ready < 0 && errno == EINTR) return {};
  if (ready > 0) patience_.found_work(core_.now());
  return std::span(events_).first(static_cast<std::size_t>(checked(ready, "epoll_pwait2()")));
}

void EpollLoop::dispatch(const epoll_event& event) {
  if (event.data.ptr == &stop_) {
    stopping_ = true;
    return watch(stop_.fd(), EPOLL_CTL_DEL, 0, nullptr);  // or it would wake the loop again and again
  }
  if (event.data.ptr == &core_) return open_dealt();
  if (hosting_.serves() && event.data.ptr == hosting_.listeners.front()) return accept_peers();
  Peer& peer = *static_cast<Peer*>(event.data.ptr);
  if (!peer.connection) {
    if (core_.finish_dial(peer, connect_result(peer.socket.get()))) serve(peer);
    return;
  }
  constexpr std::uint32_t kEnd = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
  if ((event.events & kEnd) != 0) peer.end_is_near = true;
  if ((event.events & (EPOLLIN | kEnd)) != 0) peer.readable = true;
  if ((event.events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0) peer.writable = true;
  // A reset is the end even of a peer nothing is wanted from now: neither recv nor send would be called to
  // hear it. From others what arrived before the reset is read first, and then recv tells.
  if ((event.events & EPOLLERR) != 0 && !peer.connection->wants_input())
    if (const int error = connect_result(peer.socket.get()); error != 0)
      peer.connection->failed({Stage::receive, error, {}}, core_.now());
  serve(peer);
}

// Those another loop has accepted for this one.
void EpollLoop::open_dealt() {
  for (Fd& socket : core_.inbox().take()) open(core_.add(std::move(socket)));
}

void EpollLoop::accept_peers() {
  if (listener_ == nullptr) return;  // closed earlier in this batch
  core_.accept_peers(*listener_, SOCK_NONBLOCK, [this](Fd socket) { open(core_.add(std::move(socket))); });
}

void EpollLoop::start_dials() {
  core_.start_dials(SOCK_NONBLOCK, [this](Peer& peer, const Endpoint& to) {
    const int result = ::connect(peer.socket.get(), to.raw(), to.size);
    if (result < 0 && errno == EINPROGRESS)
      watch(peer.socket.get(), EPOLL_CTL_ADD, peer.armed = EPOLLOUT, &peer);
    else if (core_.finish_dial(peer, result < 0 ? errno : 0))
      serve(peer);
  });
  core_.sweep();  // those refused at once, before the wait
}

void EpollLoop::open(Peer& peer) {
  core_.open(peer);
  serve(peer);
}

// Reads and writes until the socket has no more, the session wants no more, or the turn's quota is used up:
// what was read in one go is answered with one send, and a peer that sends without end does not keep the
// others waiting.
void EpollLoop::serve(Peer& peer) {
  StreamConnection& connection = *peer.connection;
  std::size_t quota = hosting_.limits.read_bytes_per_turn / buffer_.size() + 1;
  flush(peer);
  while (peer.readable && connection.wants_input() && --quota > 0) {
    peer.readable = receive(peer);
    flush(peer);
  }
  if (quota == 0 && !std::exchange(peer.unfinished, true)) unfinished_.push_back(&peer);
  if (!connection.ended()) rearm(peer);
  core_.settle(peer);
  if (peer.leaving && std::exchange(peer.unfinished, false)) std::erase(unfinished_, &peer);
}

// False when the socket is drained. What belongs in a file may go there without us.
bool EpollLoop::receive(Peer& peer) {
  const int socket = peer.socket.get();
  if (const std::size_t most = pipe_.wanted(*peer.connection); most > 0)
    return pipe_.receive_ready(socket, *peer.connection, most, core_.now());
  return receive_ready(socket, *peer.connection, buffer_, peer.end_is_near, core_.now());
}

// A reader that is as fast as a file is read must not keep the others waiting either.
void EpollLoop::flush(Peer& peer) {
  if (core_.is_gathering()) return;
  unsigned sends = 0;
  while (peer.writable && peer.connection->has_output() && ++sends <= kSendsPerTurn)
    peer.writable = send_ready(peer.socket.get(), *peer.connection, core_.now());
  if (sends > kSendsPerTurn && !std::exchange(peer.unfinished, true)) unfinished_.push_back(&peer);
  if (peer.connection->wants_shutdown()) end_stream(peer.socket.get(), *peer.connection, core_.now());
}

// Tells the kernel what this peer waits for, where that has changed. EPOLLOUT only once send has said "full".
void EpollLoop::rearm(Peer& peer) {
  std::uint32_t events = peer.writable ? 0U : std::uint32_t{EPOLLOUT};
  if (edge_)
    events |= EPOLLET | EPOLLIN | EPOLLRDHUP;
  else if (peer.connection->wants_input())
    events |= EPOLLIN;
  if (events == peer.armed) return;
  watch(peer.socket.get(), peer.armed == kUnwatched ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, events, &peer);
  peer.armed = events;
}

void EpollLoop::watch(int fd, int operation, std::uint32_t events, void* tag) {
  epoll_event event{.events = events, .data = {.ptr = tag}};
  checked(::epoll_ctl(epoll_.get(), operation, fd, &event), "epoll_ctl({}, {})", operation, fd);
}

void EpollLoop::resume_unfinished() {
  for (Peer* peer : std::exchange(unfinished_, {})) {
    peer->unfinished = false;
    if (!peer->leaving) serve(*peer);
  }
}

// First loop 0 lets in who waits in the queue, and ends accepting; then each loop takes what it has been
// dealt, answers what has arrived, and tells the sessions to finish.
void EpollLoop::stop_by_and_by() {
  if (core_.draining()) return;
  if (listener_ != nullptr) {
    if (!core_.accepting_paused()) accept_peers();
    std::exchange(listener_, nullptr)->close();
    core_.end_dealing();
  }
  if (!core_.may_drain()) return;
  open_dealt();
  core_.begin_drain([this](Peer& peer) {
    peer.readable = true;  // to see what has arrived meanwhile
    serve(peer);
  });
}

constexpr std::array<std::string_view, 2> kTriggers{"edge", "level"};
constexpr std::array kKnobs{
    Knob{"trigger", kTriggers, "when the kernel reports a ready socket: once, or repeatedly"}};

void run(const Hosting& hosting, Stop& stop) {
  LoopGroup group(hosting.options.threads);
  run_loops(group.size(), stop, [&](std::size_t index) { EpollLoop(hosting, stop, group, index).run(); });
}

}  // namespace

extern const Engine kEpoll{
    .name = "epoll",
    .summary = "readiness events for many sockets on one thread, edge- or level-triggered",
    .several_loops = true,
    .threads = "one per loop (-t)",
    .wait_ignored = {},
    .knobs = kKnobs,
    .run = run,
};

}  // namespace joust
