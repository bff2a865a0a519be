// SPDX-License-Identifier: MIT
//
// libev: its loop waits, and calls back for each ready socket.
//
//     ev_run --> on_ready():  recv --> session --> send
//       ^                                           |
//       +---- deadlines <---- publications <---- the unfinished
//
// Good at: the smallest of the libraries with a loop. A change of interest is noted, and becomes an epoll_ctl
// before the next wait at most once. Bad at: it is level-triggered only, and reports neither errors nor
// hang-ups by themselves, so a peer whose bytes are not wanted is checked for a reset by a timer. Left out on
// purpose: a watcher each for input and output, as a single one whose events change makes fewer calls, and
// ev_timer for each connection, because joust keeps the deadlines. recv and send are in loop/ready_io.cpp.
#include <ev.h>

#include <cerrno>
#include <deque>
#include <memory>
#include <utility>

#include "base/check.hpp"
#include "engines/loop/callback_loop.hpp"
#include "engines/loop/ready_loop.hpp"

namespace joust {
namespace {

// How often peers that have sent unwanted bytes are checked for a reset, in seconds.
constexpr ev_tstamp kLookEvery = 0.1;

// The errno of a wait that has failed on this thread. Without a callback for it, the library ends the
// program.
thread_local int wait_error = 0;

void note_wait_error(const char* /*call*/) noexcept {
  wait_error = errno;
}

double seconds(Duration time) {
  return std::chrono::duration<double>(time).count();
}

class LibevLoop : public CallbackLoop<ReadyLoop> {
 public:
  LibevLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index);
  ~LibevLoop() override;
  void run();

 private:
  struct Watcher {
    ev_io io{};
    Peer* peer = nullptr;
  };

  // The states of a peer beside POLLIN and POLLOUT, in ReadyPeer::armed.
  static constexpr unsigned kReset = 1U << 16;     // nothing is wanted; readable means a reset or bytes
  static constexpr unsigned kUnwanted = 1U << 17;  // unread bytes exist: not watched

  static LibevLoop& loop_of(struct ev_loop* loop) { return *static_cast<LibevLoop*>(::ev_userdata(loop)); }
  static void on_ready(struct ev_loop* loop, ev_io* io, int events);
  static void on_listener(struct ev_loop* loop, ev_io* io, int events);
  static void on_look(struct ev_loop* loop, ev_timer* timer, int events);
  void wait();
  void watch_listeners();
  void count_unwanted(unsigned before, unsigned after);
  void watch(Peer& peer) override;
  bool let_go(Peer& peer) override;

  const std::unique_ptr<struct ev_loop, void (*)(struct ev_loop*)> loop_;
  Watchers<Watcher> watchers_;
  std::deque<ev_io> accepting_;  // one for each listener
  ev_io stop_{};
  ev_io inbox_{};
  ev_timer timer_{};
  ev_timer look_{};
  std::size_t unwanted_ = 0;  // peers with kUnwanted
  bool watches_listeners_ = false;
};

LibevLoop::LibevLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index)
    : CallbackLoop<ReadyLoop>(hosting, stop, group, index),
      loop_(::ev_loop_new(EVFLAG_AUTO | EVFLAG_NOENV), ::ev_loop_destroy) {
  if (!loop_) throw std::system_error(errno, std::generic_category(), "ev_loop_new()");
  ::ev_set_userdata(loop_.get(), this);
  ::ev_set_syserr_cb(note_wait_error);
  const auto on_stop = [](struct ev_loop* loop, ev_io* io, int) {
    ::ev_io_stop(loop, io);  // it stays readable
    loop_of(loop).on_event([&] { loop_of(loop).request_stop(); });
  };
  const auto on_inbox = [](struct ev_loop* loop, ev_io*, int) {
    loop_of(loop).on_event([&] { loop_of(loop).admit_dealt(); });
  };
  ev_io_init(&stop_, on_stop, stop.fd(), EV_READ);
  ev_io_init(&inbox_, on_inbox, inbox().waker().fd(), EV_READ);
  ev_init(&timer_, [](struct ev_loop*, ev_timer*, int) {});
  ev_timer_init(&look_, on_look, kLookEvery, kLookEvery);
  for (Listener* const listener : listeners()) {
    ev_io& io = accepting_.emplace_back();
    ev_io_init(&io, on_listener, listener->fd(), EV_READ);
    io.data = listener;
  }
  ::ev_io_start(loop_.get(), &stop_);
  ::ev_io_start(loop_.get(), &inbox_);
}

// The library still refers to the watchers of peers that are left after an immediate end.
LibevLoop::~LibevLoop() {
  for (const auto& peer : peers()) let_go(*peer);
}

void LibevLoop::run() {
  while (!over()) {
    start_dials();
    watch_listeners();
    wait();
    finish_turn();
  }
}

// Waits once, and runs the callbacks of all that is ready.
void LibevLoop::wait() {
  const Duration most = next_wait();
  ::ev_timer_stop(loop_.get(), &timer_);
  if (most > Duration::zero() && most < WaitStrategy::kForever) {
    ::ev_now_update(loop_.get());  // a timer counts from the library's time, which is that of the last wait
    ev_timer_set(&timer_, seconds(most), 0.0);
    ::ev_timer_start(loop_.get(), &timer_);
  }
  ::ev_run(loop_.get(), most == Duration::zero() ? EVRUN_NOWAIT : EVRUN_ONCE);
  finish_callbacks();
  if (wait_error != 0) {
    errno = std::exchange(wait_error, 0);
    woken(-1, "ev_run()");
  }
}

// While accepting is paused, the accept queue would wake the loop again and again.
void LibevLoop::watch_listeners() {
  const bool accepting = accepts();
  if (watches_listeners_ == accepting) return;
  watches_listeners_ = accepting;
  for (ev_io& one : accepting_)
    accepting ? ::ev_io_start(loop_.get(), &one) : ::ev_io_stop(loop_.get(), &one);
}

void LibevLoop::on_listener(struct ev_loop* loop, ev_io* io, int /*events*/) {
  loop_of(loop).on_event([&] { loop_of(loop).ready_listener(*static_cast<const Listener*>(io->data)); });
}

void LibevLoop::on_ready(struct ev_loop* loop, ev_io* io, int events) {
  LibevLoop& self = loop_of(loop);
  Peer& peer = *static_cast<Peer*>(io->data);
  self.on_event([&] {
    if (peer.armed == kReset) self.look_for_reset(peer);
    self.ready(peer, ((events & EV_READ) != 0 ? POLLIN : 0U) | ((events & EV_WRITE) != 0 ? POLLOUT : 0U));
  });
}

void LibevLoop::on_look(struct ev_loop* loop, ev_timer* /*timer*/, int /*events*/) {
  LibevLoop& self = loop_of(loop);
  self.on_event([&] {
    for (const auto& peer : self.peers()) {
      if (peer->armed != kUnwanted) continue;
      self.look_for_reset(*peer);
      self.attend(*peer);
    }
  });
}

void LibevLoop::watch(Peer& peer) {
  const unsigned wanted = interest(peer);
  const unsigned state = wanted != 0 ? wanted : peer.readable ? kUnwanted : kReset;
  if (state == peer.armed) return;
  ev_io& io = watchers_.of(peer.socket.get()).io;
  if (peer.armed != Peer::kUnwatched) ::ev_io_stop(loop_.get(), &io);
  count_unwanted(peer.armed, state);
  peer.armed = state;
  const int events =
      ((state & (POLLIN | kReset)) != 0 ? EV_READ : 0) | ((state & POLLOUT) != 0 ? EV_WRITE : 0);
  ev_io_init(&io, on_ready, peer.socket.get(), events);
  io.data = &peer;
  if (events != 0) ::ev_io_start(loop_.get(), &io);
}

void LibevLoop::count_unwanted(unsigned before, unsigned after) {
  if (before == kUnwanted && --unwanted_ == 0) ::ev_timer_stop(loop_.get(), &look_);
  if (after == kUnwanted && unwanted_++ == 0) ::ev_timer_again(loop_.get(), &look_);
}

bool LibevLoop::let_go(Peer& peer) {
  if (peer.armed != Peer::kUnwatched) ::ev_io_stop(loop_.get(), &watchers_.of(peer.socket.get()).io);
  count_unwanted(peer.armed, Peer::kUnwatched);
  peer.armed = Peer::kUnwatched;
  return true;
}

}  // namespace

extern const Engine kLibev{
    .name = "libev",
    .summary = "libev: a watcher for each socket on its loop, called back when it is ready",
    .several_loops = true,
    .threads = "one per loop (-t)",
    .run = run_loops<LibevLoop>,
};

}  // namespace joust
