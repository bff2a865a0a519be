// SPDX-License-Identifier: MIT
//
// libevent: its loop waits, and calls back for each ready socket.
//
//     event_base_loop --> on_ready():  recv --> session --> send
//          ^                                                 |
//          +---- deadlines <---- publications <---- the unfinished
//
// Good at: programs that have this loop anyway; a loop that is epoll on Linux and kqueue on BSD. Bad at: each
// change of interest is an event_del and an event_add, with an epoll_ctl each. The events are plain ones, as
// in programs that count system calls: a bufferevent would copy each message into an evbuffer and out of it.
// They are persistent and level-triggered. Timers count on a coarse clock, up to some milliseconds late,
// because the precise one of the library costs a timerfd_settime for every wait; an open loop pays that. Left
// out on purpose: evconnlistener, which accepts all that wait at once, and locks, because a base stays with
// its thread. recv and send are in loop/ready_io.cpp.
#include <event2/event.h>
#include <event2/event_struct.h>

#include <cerrno>
#include <memory>
#include <vector>

#include "base/check.hpp"
#include "engines/loop/callback_loop.hpp"
#include "engines/loop/ready_loop.hpp"

namespace joust {
namespace {

class LibeventLoop : public CallbackLoop<ReadyLoop> {
 public:
  LibeventLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index);
  ~LibeventLoop() override;
  void run();

 private:
  using Base = std::unique_ptr<event_base, void (*)(event_base*)>;
  using Event = std::unique_ptr<event, void (*)(event*)>;
  struct Watcher {
    event io;
    LibeventLoop* loop;
    Peer* peer;
  };

  static Base make_base(bool precise);
  static void on_ready(evutil_socket_t fd, short events, void* watcher);
  Event make_event(int fd, short events, event_callback_fn call);
  void wait();
  void watch_listeners();
  void accept_from(int fd);
  void watch(Peer& peer) override;
  bool let_go(Peer& peer) override;

  const Base base_;
  Watchers<Watcher> watchers_;
  std::vector<Event> accepting_;  // one for each listener
  Event stop_;
  Event inbox_;
  Event timer_;
  bool watches_listeners_ = false;
};

LibeventLoop::LibeventLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index)
    : CallbackLoop<ReadyLoop>(hosting, stop, group, index),
      base_(make_base(hosting.options.paced)),
      stop_(make_event(stop.fd(), EV_READ,
                       [](evutil_socket_t, short, void* loop) {  // once: it stays readable
                         auto& self = *static_cast<LibeventLoop*>(loop);
                         self.on_event([&] {
                           // Before the listeners are closed: another process may share them, and they would
                           // stay in the library's set.
                           self.accepting_.clear();
                           self.request_stop();
                         });
                       })),
      inbox_(make_event(inbox().waker().fd(), EV_READ | EV_PERSIST,
                        [](evutil_socket_t, short, void* loop) {
                          auto& self = *static_cast<LibeventLoop*>(loop);
                          self.on_event([&] { self.admit_dealt(); });
                        })),
      timer_(make_event(-1, 0, [](evutil_socket_t, short, void*) {})) {
  for (Listener* const listener : listeners())
    accepting_.push_back(
        make_event(listener->fd(), EV_READ | EV_PERSIST, [](evutil_socket_t fd, short, void* loop) {
          static_cast<LibeventLoop*>(loop)->accept_from(static_cast<int>(fd));
        }));
  checked(::event_add(stop_.get(), nullptr), "event_add()");
  checked(::event_add(inbox_.get(), nullptr), "event_add()");
}

// The base still refers to the events of peers that are left after an immediate end.
LibeventLoop::~LibeventLoop() {
  for (const auto& peer : peers()) let_go(*peer);
}

LibeventLoop::Base LibeventLoop::make_base(bool precise) {
  const std::unique_ptr<event_config, void (*)(event_config*)> config(::event_config_new(),
                                                                      ::event_config_free);
  if (!config) throw std::bad_alloc();
  checked(::event_config_require_features(config.get(), EV_FEATURE_ET), "event_config_require_features()");
  checked(::event_config_set_flag(config.get(), EVENT_BASE_FLAG_NOLOCK), "event_config_set_flag()");
  if (precise)
    checked(::event_config_set_flag(config.get(), EVENT_BASE_FLAG_PRECISE_TIMER), "event_config_set_flag()");
  Base base(::event_base_new_with_config(config.get()), ::event_base_free);
  if (!base) throw std::system_error(errno, std::generic_category(), "event_base_new_with_config()");
  return base;
}

LibeventLoop::Event LibeventLoop::make_event(int fd, short events, event_callback_fn call) {
  Event made(::event_new(base_.get(), fd, events, call, this), ::event_free);
  if (!made) throw std::bad_alloc();
  return made;
}

void LibeventLoop::run() {
  while (!over()) {
    start_dials();
    watch_listeners();
    wait();
    finish_turn();
  }
}

// Waits once, and runs the callbacks of all that is ready.
void LibeventLoop::wait() {
  const Duration most = next_wait();
  if (most > Duration::zero() && most < WaitStrategy::kForever) {
    const timeval timeout = to_timeval(most);
    checked(::event_add(timer_.get(), &timeout), "event_add()");
  } else {
    ::event_del(timer_.get());
  }
  errno = 0;
  // EVLOOP_NONBLOCK alone would go on as long as anything is ready.
  const int result =
      ::event_base_loop(base_.get(), EVLOOP_ONCE | (most == Duration::zero() ? EVLOOP_NONBLOCK : 0));
  if (result < 0) woken(result, "event_base_loop()");
  finish_callbacks();
}

// While accepting is paused, the accept queue would wake the loop again and again.
void LibeventLoop::watch_listeners() {
  if (listeners().empty() || watches_listeners_ == accepts()) return;
  watches_listeners_ = accepts();
  for (const Event& one : accepting_)
    checked(watches_listeners_ ? ::event_add(one.get(), nullptr) : ::event_del(one.get()), "event_add()");
}

void LibeventLoop::accept_from(int fd) {
  on_event([&] {
    for (const Listener* listener : listeners())
      if (listener->fd() == fd) return ready_listener(*listener);
  });
}

void LibeventLoop::on_ready(evutil_socket_t /*fd*/, short events, void* watcher) {
  auto& [io, loop, peer] = *static_cast<Watcher*>(watcher);
  loop->on_event([&] {
    if (peer->armed == 0) loop->look_for_reset(*peer);
    loop->ready(*peer, ((events & EV_READ) != 0 ? POLLIN : 0U) | ((events & EV_WRITE) != 0 ? POLLOUT : 0U));
  });
}

// Watches a peer without an interest for room, edge-triggered: the library reports an error as room, and says
// so once.
void LibeventLoop::watch(Peer& peer) {
  const unsigned wanted = interest(peer);
  if (wanted == peer.armed) return;
  Watcher& watcher = watchers_.of(peer.socket.get());
  if (peer.armed != Peer::kUnwatched) ::event_del(&watcher.io);
  peer.armed = Peer::kUnwatched;
  watcher.loop = this;
  watcher.peer = &peer;
  const int events = wanted == 0
                         ? EV_WRITE | EV_ET
                         : ((wanted & POLLIN) != 0 ? EV_READ : 0) | ((wanted & POLLOUT) != 0 ? EV_WRITE : 0);
  ::event_assign(&watcher.io, base_.get(), peer.socket.get(), static_cast<short>(events | EV_PERSIST),
                 on_ready, &watcher);
  checked(::event_add(&watcher.io, nullptr), "event_add({})", peer.socket.get());
  peer.armed = wanted;
}

bool LibeventLoop::let_go(Peer& peer) {
  if (peer.armed != Peer::kUnwatched) ::event_del(&watchers_.of(peer.socket.get()).io);
  peer.armed = Peer::kUnwatched;
  return true;
}

}  // namespace

extern const Engine kLibevent{
    .name = "libevent",
    .summary = "libevent: plain events on its loop, called back for each ready socket",
    .several_loops = true,
    .threads = "one per loop (-t)",
    .run = run_loops<LibeventLoop>,
};

}  // namespace joust
