// SPDX-License-Identifier: MIT
// Needs kqueue: kqueue is the interface of macOS and BSD; libkqueue was not found when this was built
//
// kqueue: the counterpart of epoll on macOS and BSD: one thread, thousands of sockets, events for ready ones.
//
//     kevent(changes, events) --> for each event:  recv --> session --> send
//          ^                                                             |
//          +---- deadlines <---- publications <---- the unfinished <-----+
//
// Good at: the same as epoll, and changes of interest need no system call of their own: they are handed over
// by the call that waits. Each direction is watched by a filter of its own. Input is watched with EV_CLEAR
// (edge-triggered: each change to ready is reported once), from the first to the last; output only while the
// socket is full, once (EV_ONESHOT). Bad at: the same as epoll. Three traps:
//
//   - EV_EOF comes as soon as the peer has ended, with bytes still unread, and libkqueue also sets it when
//     nothing is left to read. So it is a hint: the end is only believed from a recv that returns 0.
//     (For a datagram socket, a recv of 0 would be no end either, but an empty datagram.)
//   - EV_EOF has the socket's error in `fflags`. libkqueue has then cleared it in the socket, and recv would
//     report an orderly end; ReadyPeer::error keeps it.
//   - A refused change comes back as an event, with EV_ERROR. That needs room among the events.
//
// On Linux the engine runs on libkqueue, where pkg-config finds that. Left out on purpose: level-triggered
// filters and EVFILT_TIMER, because the deadlines of all peers need only the one of the next wait.
#include "engines/kqueue.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/check.hpp"
#include "engines/loop/polled.hpp"
#include "engines/loop/ready.hpp"

namespace joust {
namespace {

constexpr std::size_t kChangesPerTurn = 256;  // more follow at once, without waiting

}  // namespace

Kqueue::Kqueue(const Hosting& /*hosting*/) : queue_(checked(::kqueue(), "kqueue()")) {}

void Kqueue::change(int fd, int filter, unsigned flags, Watched* what) {
  EV_SET(&changes_.emplace_back(), static_cast<unsigned>(fd), static_cast<short>(filter),
         static_cast<unsigned short>(flags), 0, 0, what);
}

// A change is handed over by the next wait, and a refused one comes back as an event. Doors are
// level-triggered.
void Kqueue::watch(int fd, Watched& what, unsigned events) {
  if ((events & kOnce) != 0) return watch_once(fd, what, events);
  const unsigned armed = what.armed == Watched::kUnwatched ? 0 : what.armed;
  if (what.kind != Watched::Kind::peer) {
    const unsigned first = what.armed == Watched::kUnwatched ? EV_ADD : 0U;
    change(fd, EVFILT_READ, first | (events != 0 ? EV_ENABLE : EV_DISABLE), &what);
    what.armed = events;
    return;
  }
  if ((events & ~armed & POLLIN) != 0) change(fd, EVFILT_READ, EV_ADD | EV_CLEAR, &what);
  if ((events & ~armed & POLLOUT) != 0) change(fd, EVFILT_WRITE, EV_ADD | EV_CLEAR | EV_ONESHOT, &what);
  what.armed = armed | events;  // room is told once: see taken()
}

// For a pool, any thread: makes its changes at once. EV_DISPATCH disables a filter after a report. A reset is
// watched by a filter with EV_CLEAR instead, of the same kind as that of input: it reports each change once.
void Kqueue::watch_once(int fd, Watched& what, unsigned events) {
  unsigned armed = what.armed == Watched::kUnwatched ? 0 : what.armed;
  std::array<Event, 3> changes;
  int count = 0;
  const auto set = [&](int filter, unsigned mode, unsigned bit, unsigned instead) {
    const auto add = [&](unsigned flags) {
      EV_SET(&changes[static_cast<std::size_t>(count++)], static_cast<unsigned>(fd),
             static_cast<short>(filter), static_cast<unsigned short>(flags), 0, 0, &what);
    };
    if ((armed & instead) != 0) add(EV_DELETE);
    if ((armed & bit) == 0) add(EV_ADD | mode);
    if ((armed & bit) != 0 && mode == EV_DISPATCH) add(EV_ENABLE);
    armed = (armed & ~instead) | bit;
  };
  if ((events & POLLIN) != 0) set(EVFILT_READ, EV_DISPATCH, POLLIN, kReset);
  if ((events & POLLOUT) != 0) set(EVFILT_WRITE, EV_DISPATCH, POLLOUT, 0);
  if ((events & kReset) != 0) set(EVFILT_READ, EV_CLEAR, kReset, POLLIN);
  checked(::kevent(queue_.get(), changes.data(), count, nullptr, 0, nullptr), "kevent(EV_ADD)");
  what.armed = armed;
}

// The kernel ends the watches of a socket at close(), but libkqueue does not learn of it. A door is forgotten
// while it is open.
void Kqueue::forget(int fd, Watched& what) {
  std::erase_if(changes_, [&](const Event& each) { return each.udata == &what; });
#ifndef __linux__
  if (what.kind == Watched::Kind::peer) return;
#endif
  for (const int filter : {EVFILT_READ, EVFILT_WRITE}) {
    Event end;
    EV_SET(&end, static_cast<unsigned>(fd), static_cast<short>(filter), EV_DELETE, 0, 0, nullptr);
    ::kevent(queue_.get(), &end, 1, nullptr, 0, nullptr);
  }
}

// Changes of a call that has failed are handed over again: some kernels have applied them, and applying them
// twice has no effect.
int Kqueue::call(Duration most) {
  const std::size_t count = std::min(changes_.size(), kChangesPerTurn);
  const timespec timeout = to_timespec(count < changes_.size() ? Duration::zero() : most);
  const int result = ::kevent(queue_.get(), changes_.data(), static_cast<int>(count), events_.data(),
                              static_cast<int>(events_.size()), &timeout);
  if (result >= 0) changes_.erase(changes_.begin(), changes_.begin() + static_cast<std::ptrdiff_t>(count));
  return result;
}

// Returns the owner of an event; null for a change that was made. A filter with EV_ONESHOT is gone with its
// report. A peer that cannot be watched fails alone.
Watched* Kqueue::taken(const Event& event) {
  auto* const what = static_cast<Watched*>(event.udata);
  if ((event.flags & EV_ERROR) == 0 && (event.flags & EV_ONESHOT) != 0 && what != nullptr)
    what->armed &= ~static_cast<unsigned>(POLLOUT);
  if ((event.flags & EV_ERROR) == 0 || what == nullptr) return what;
  if (event.data == 0) return nullptr;
  if (what->kind == Watched::Kind::peer) return what;
  throw std::system_error(static_cast<int>(event.data), std::generic_category(), "kevent()");
}

unsigned Kqueue::reported(const Event& event) {
  if ((event.flags & EV_ERROR) != 0) return POLLERR;
  const bool reads = event.filter == EVFILT_READ;
  const bool ends = (event.flags & EV_EOF) != 0;
  return (reads ? POLLIN : POLLOUT) | (reads && ends ? kReadHangUp : 0U) |
         (error_of(event) != 0 ? POLLERR : 0U);
}

int Kqueue::error_of(const Event& event) {
  if ((event.flags & EV_ERROR) != 0) return static_cast<int>(event.data);
  return (event.flags & EV_EOF) != 0 ? static_cast<int>(event.fflags) : 0;
}

// Opens a kqueue of the process's own. So the objects that libkqueue keeps for the process (a thread and
// descriptors) exist before the first run, and stay.
std::string kqueue_unavailable() {
  static const Fd first(::kqueue());
  static const int error = first.is_open() ? 0 : errno;
  return error == 0 ? "" : "kqueue() fails: " + std::generic_category().message(error);
}

extern const Engine kKqueue{
    .name = "kqueue",
    .summary = "readiness events of macOS and BSD, for many sockets on one thread",
    .several_loops = true,
    .does_chores = true,
    .threads = "one per loop (-t)",
    .unavailable = kqueue_unavailable,
    .run = run_loops<Polled<ReadyLoop, Kqueue>>,
};

}  // namespace joust
