// SPDX-License-Identifier: MIT
// Needs libevent: libevent 2.1 or newer not found at build time: script/setup loops && script/build
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
#include <system_error>

#include "base/check.hpp"
#include "engines/loop/polled.hpp"
#include "engines/loop/poller.hpp"
#include "engines/loop/ready.hpp"

namespace joust {
namespace {

class Libevent {
 public:
  explicit Libevent(const Hosting& hosting);

  Reports reports() const { return {}; }
  void watch(int fd, Watched& what, unsigned events);
  void forget(int fd, Watched& /*what*/) { ::event_del(&watchers_.of(fd).io); }
  template <typename Loop>
  void wait(Loop& loop, Duration most);

 private:
  using Base = std::unique_ptr<event_base, void (*)(event_base*)>;
  struct Watcher {
    event io{};
    CalledBack* called_back = nullptr;
    Watched* what = nullptr;
  };

  static Base make_base(bool precise);
  static void on_ready(evutil_socket_t fd, short events, void* watcher);

  CalledBack called_back_;
  Watchers<Watcher> watchers_;
  event timer_{};
  const Base base_;  // ends first: it refers to the others
};

Libevent::Libevent(const Hosting& hosting) : base_(make_base(hosting.options.paced)) {
  ::event_assign(
      &timer_, base_.get(), -1, 0, [](evutil_socket_t, short, void*) {}, nullptr);
}

Libevent::Base Libevent::make_base(bool precise) {
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

void Libevent::on_ready(evutil_socket_t /*fd*/, short events, void* watcher) {
  const Watcher& ready = *static_cast<Watcher*>(watcher);
  ready.called_back->report(
      *ready.what, ((events & EV_READ) != 0 ? POLLIN : 0U) | ((events & EV_WRITE) != 0 ? POLLOUT : 0U));
}

// A peer without an interest is watched for room, edge-triggered: the library reports an error as room, and
// says so once.
void Libevent::watch(int fd, Watched& what, unsigned events) {
  Watcher& watcher = watchers_.of(fd);
  if (what.armed != Watched::kUnwatched) ::event_del(&watcher.io);
  what.armed = Watched::kUnwatched;
  watcher.called_back = &called_back_;
  watcher.what = &what;
  const int ready = events == kReset
                        ? EV_WRITE | EV_ET
                        : ((events & POLLIN) != 0 ? EV_READ : 0) | ((events & POLLOUT) != 0 ? EV_WRITE : 0);
  ::event_assign(&watcher.io, base_.get(), fd, static_cast<short>(ready | EV_PERSIST), on_ready, &watcher);
  if (ready != 0) checked(::event_add(&watcher.io, nullptr), "event_add({})", fd);
  what.armed = events;
}

// Waits once, and runs the callbacks of all that is ready. EVLOOP_NONBLOCK alone would go on as long as
// anything is ready.
template <typename Loop>
void Libevent::wait(Loop& loop, Duration most) {
  const bool waits = most > Duration::zero();
  const timeval timeout = to_timeval(most);
  if (waits && most < WaitStrategy::kForever)
    checked(::event_add(&timer_, &timeout), "event_add()");
  else
    ::event_del(&timer_);
  called_back_.during(loop, [&] {
    errno = 0;
    const int result = ::event_base_loop(base_.get(), EVLOOP_ONCE | (waits ? 0 : EVLOOP_NONBLOCK));
    if (result < 0) loop.woken(result, "event_base_loop()");
  });
}

}  // namespace

extern const Engine kLibevent{
    .name = "libevent",
    .summary = "libevent: plain events on its loop, called back for each ready socket",
    .several_loops = true,
    .does_chores = true,
    .threads = "one per loop (-t)",
    .run = run_loops<Polled<ReadyLoop, Libevent>>,
};

}  // namespace joust
