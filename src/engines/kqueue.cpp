// SPDX-License-Identifier: MIT
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

#ifdef JOUST_HAVE_KQUEUE

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <vector>

#include "base/check.hpp"
#include "engines/loop/ready_loop.hpp"

namespace joust {

KqueueSet::KqueueSet() : queue_(checked(::kqueue(), "kqueue()")) {}

KqueueSet::Event KqueueSet::change(int fd, int filter, unsigned flags, void* tag) {
  Event change;
  EV_SET(&change, static_cast<unsigned>(fd), static_cast<short>(filter), static_cast<unsigned short>(flags),
         0, 0, tag);
  return change;
}

void KqueueSet::make(std::span<const Event> changes) {
  const int count = static_cast<int>(changes.size());
  checked(::kevent(queue_.get(), changes.data(), count, nullptr, 0, nullptr), "kevent(EV_ADD)");
}

void KqueueSet::forget(int fd, int filter) {
  const Event end = change(fd, filter, EV_DELETE, nullptr);
  ::kevent(queue_.get(), &end, 1, nullptr, 0, nullptr);
}

void KqueueSet::before_close([[maybe_unused]] int socket) {
#ifdef __linux__
  forget(socket, EVFILT_READ);
  forget(socket, EVFILT_WRITE);
#endif
}

int KqueueSet::wait(std::span<const Event> changes, Duration most) {
  const timespec timeout = to_timespec(most);
  return ::kevent(queue_.get(), changes.data(), static_cast<int>(changes.size()), events_.data(),
                  static_cast<int>(events_.size()), &timeout);
}

unsigned KqueueSet::events_of(const Event& event) {
  const bool reads = event.filter == EVFILT_READ;
  const bool ends = (event.flags & EV_EOF) != 0;
  return (reads ? POLLIN : POLLOUT) | (reads && ends ? kReadHangUp : 0U) |
         (error_of(event) != 0 ? POLLERR : 0U);
}

int KqueueSet::error_of(const Event& event) {
  return (event.flags & EV_EOF) != 0 ? static_cast<int>(event.fflags) : 0;
}

namespace {

using Event = KqueueSet::Event;

constexpr std::size_t kChangesPerTurn = 256;  // more follow at once, without waiting

class KqueueLoop : public ReadyLoop {
 public:
  KqueueLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index);
  void run();

 private:
  // The filters of a peer, in ReadyPeer::armed.
  static constexpr unsigned kInput = 1, kOutput = 2;

  std::span<const Event> wait();
  const Peer* peer_of(std::span<const Event> events, std::size_t i);
  bool is_peer(const void* tag);
  void dispatch(const Event& event);
  void dispatch(Peer& peer, const Event& event);
  void refused(const Event& change);
  void watch(Peer& peer) override;
  bool let_go(Peer& peer) override;
  void watch_listeners();
  void change(int fd, int filter, unsigned flags, void* tag) {
    changes_.push_back(KqueueSet::change(fd, filter, flags, tag));
  }

  bool accepting_ = true;  // the listeners are watched
  std::vector<Event> changes_;
  KqueueSet queue_;
};

KqueueLoop::KqueueLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index)
    : ReadyLoop(hosting, stop, group, index) {
  change(stop.fd(), EVFILT_READ, EV_ADD, &stop);
  change(inbox().waker().fd(), EVFILT_READ, EV_ADD, &inbox());
  for (Listener* const listener : listeners()) change(listener->fd(), EVFILT_READ, EV_ADD, listener);
  queue_.make(changes_);
  changes_.clear();
}

void KqueueLoop::run() {
  while (!over()) {
    start_dials();
    watch_listeners();
    const std::span<const Event> events = wait();
    for (std::size_t i = 0; i < events.size(); ++i) {
      fetch_ahead(peer_of(events, i + 1), peer_of(events, i + 2));
      dispatch(events[i]);
    }
    finish_turn();
  }
}

// Hands over the changes, and waits. Changes of a call that has failed are handed over again: some kernels
// have applied them, and applying them twice has no effect.
std::span<const Event> KqueueLoop::wait() {
  const std::size_t count = std::min(changes_.size(), kChangesPerTurn);
  const Duration most = count < changes_.size() ? Duration::zero() : next_wait();
  const int result = queue_.wait(std::span(changes_).first(count), most);
  const std::size_t ready = woken(result, "kevent()");
  if (result >= 0) changes_.erase(changes_.begin(), changes_.begin() + static_cast<std::ptrdiff_t>(count));
  return queue_.first(ready);
}

bool KqueueLoop::is_peer(const void* tag) {
  const auto same = [tag](const Listener* listener) { return tag == listener; };
  return tag != nullptr && tag != &stop() && tag != &inbox() &&
         std::ranges::none_of(hosting().listeners, same);
}

// Returns null if no such event exists, or if the event is not a peer's.
const ReadyPeer* KqueueLoop::peer_of(std::span<const Event> events, std::size_t i) {
  const void* const tag = i < events.size() ? events[i].udata : nullptr;
  return is_peer(tag) ? static_cast<const Peer*>(tag) : nullptr;
}

void KqueueLoop::dispatch(const Event& event) {
  void* const tag = event.udata;
  if ((event.flags & EV_ERROR) != 0) return refused(event);
  if (is_peer(tag)) return dispatch(*static_cast<Peer*>(tag), event);
  if (tag == &inbox()) return admit_dealt();
  for (const Listener* listener : listeners())
    if (tag == listener) return ready_listener(*listener);
  if (tag != &stop() || !awaits_stop()) return;
  queue_.forget(stop().fd(), EVFILT_READ);  // it stays readable, and would wake the loop at once
  for (const Listener* listener : listeners()) queue_.forget(listener->fd(), EVFILT_READ);
  request_stop();
}

void KqueueLoop::dispatch(Peer& peer, const Event& event) {
  if (event.filter == EVFILT_WRITE) peer.armed &= ~kOutput;  // EV_ONESHOT
  if (const int error = KqueueSet::error_of(event); error != 0) peer.error = error;
  ready(peer, KqueueSet::events_of(event));
}

// Handles a refused change; `data` is the error. A listener may have been closed meanwhile. A peer that
// cannot be watched fails alone.
void KqueueLoop::refused(const Event& change) {
  const int error = static_cast<int>(change.data);
  if (error == 0 || (!is_peer(change.udata) && !awaits_stop())) return;
  if (!is_peer(change.udata)) throw std::system_error(error, std::generic_category(), "kevent()");
  Peer& peer = *static_cast<Peer*>(change.udata);
  peer.error = error;
  ready(peer, POLLERR);
}

void KqueueLoop::watch(Peer& peer) {
  const bool output = !peer.connection || !peer.writable;  // without a connection, the peer is connecting
  const unsigned wanted = (peer.connection ? kInput : 0) | (output ? kOutput : 0);
  const unsigned armed = peer.armed == Peer::kUnwatched ? 0 : peer.armed;
  const int fd = peer.socket.get();
  if ((wanted & ~armed & kInput) != 0) change(fd, EVFILT_READ, EV_ADD | EV_CLEAR, &peer);
  if ((wanted & ~armed & kOutput) != 0) change(fd, EVFILT_WRITE, EV_ADD | EV_CLEAR | EV_ONESHOT, &peer);
  peer.armed = armed | wanted;
}

bool KqueueLoop::let_go(Peer& peer) {
  std::erase_if(changes_, [&](const Event& change) { return change.udata == &peer; });
  queue_.before_close(peer.socket.get());
  return true;
}

// While accepting is paused, a non-empty accept queue would wake the loop again and again.
void KqueueLoop::watch_listeners() {
  if (listeners().empty() || accepting_ == accepts()) return;
  accepting_ = accepts();
  for (Listener* const listener : listeners())
    change(listener->fd(), EVFILT_READ, accepting_ ? EV_ENABLE : EV_DISABLE, listener);
}

constexpr auto run = run_loops<KqueueLoop>;

}  // namespace

// Opens a kqueue of the process's own. So the objects that libkqueue keeps for the process (a thread and
// descriptors) exist before the first run, and stay.
std::string kqueue_unavailable() {
  static const Fd first(::kqueue());
  static const int error = first.is_open() ? 0 : errno;
  return error == 0 ? "" : "kqueue() fails: " + std::generic_category().message(error);
}

}  // namespace joust

#else

namespace joust {
namespace {

constexpr auto run = nullptr;

}  // namespace

std::string kqueue_unavailable() {
  return "kqueue is the interface of macOS and BSD; libkqueue was not found when this was built";
}

}  // namespace joust

#endif

namespace joust {

extern const Engine kKqueue{
    .name = "kqueue",
    .summary = "readiness events of macOS and BSD, for many sockets on one thread",
    .several_loops = true,
    .threads = "one per loop (-t)",
    .unavailable = kqueue_unavailable,
    .run = run,
};

}  // namespace joust
