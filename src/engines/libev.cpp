// SPDX-License-Identifier: MIT
// Needs libev: libev not found at build time: script/setup loops && script/build
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
#include <memory>
#include <system_error>
#include <utility>

#include "engines/loop/polled.hpp"
#include "engines/loop/poller.hpp"
#include "engines/loop/ready.hpp"

namespace joust {
namespace {

// The errno of a wait that has failed on this thread. Without a callback for it, the library ends the
// program.
thread_local int wait_error = 0;

class Libev {
 public:
  explicit Libev(const Hosting& hosting);

  Reports reports() const { return {.resets = false}; }
  void watch(int fd, Watched& what, unsigned events);
  void forget(int fd, Watched& /*what*/) { ::ev_io_stop(loop_.get(), &watchers_.of(fd)); }
  template <typename Loop>
  void wait(Loop& loop, Duration most);

 private:
  CalledBack called_back_;
  Watchers<ev_io> watchers_;
  ev_timer timer_{};
  const std::unique_ptr<struct ev_loop, void (*)(struct ev_loop*)> loop_;  // ends first
};

Libev::Libev(const Hosting& /*hosting*/)
    : loop_(::ev_loop_new(EVFLAG_AUTO | EVFLAG_NOENV), ::ev_loop_destroy) {
  if (!loop_) throw std::system_error(errno, std::generic_category(), "ev_loop_new()");
  ::ev_set_userdata(loop_.get(), &called_back_);
  ::ev_set_syserr_cb([](const char* /*call*/) noexcept { wait_error = errno; });
  ev_init(&timer_, [](struct ev_loop*, ev_timer*, int) {});
}

void Libev::watch(int fd, Watched& what, unsigned events) {
  const auto on_ready = [](struct ev_loop* loop, ev_io* io, int ready) {
    static_cast<CalledBack*>(::ev_userdata(loop))
        ->report(*static_cast<Watched*>(io->data),
                 ((ready & EV_READ) != 0 ? POLLIN : 0U) | ((ready & EV_WRITE) != 0 ? POLLOUT : 0U));
  };
  ev_io& io = watchers_.of(fd);
  if (what.armed != Watched::kUnwatched) ::ev_io_stop(loop_.get(), &io);
  what.armed = events;
  const int ready =
      ((events & (POLLIN | kReset)) != 0 ? EV_READ : 0) | ((events & POLLOUT) != 0 ? EV_WRITE : 0);
  ev_io_init(&io, on_ready, fd, ready);
  io.data = &what;
  if (ready != 0) ::ev_io_start(loop_.get(), &io);
}

// Waits once, and runs the callbacks of all that is ready. A timer counts from the library's time, which is
// that of the last wait.
template <typename Loop>
void Libev::wait(Loop& loop, Duration most) {
  ::ev_timer_stop(loop_.get(), &timer_);
  if (most > Duration::zero() && most < WaitStrategy::kForever) {
    ::ev_now_update(loop_.get());
    ev_timer_set(&timer_, std::chrono::duration<double>(most).count(), 0.0);
    ::ev_timer_start(loop_.get(), &timer_);
  }
  called_back_.during(loop, [&] {
    ::ev_run(loop_.get(), most == Duration::zero() ? EVRUN_NOWAIT : EVRUN_ONCE);
    if (wait_error != 0) loop.woken((errno = std::exchange(wait_error, 0), -1), "ev_run()");
  });
}

}  // namespace

extern const Engine kLibev{
    .name = "libev",
    .summary = "libev: a watcher for each socket on its loop, called back when it is ready",
    .several_loops = true,
    .does_chores = true,
    .threads = "one per loop (-t)",
    .run = run_loops<Polled<ReadyLoop, Libev>>,
};

}  // namespace joust
