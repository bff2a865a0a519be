// SPDX-License-Identifier: MIT
//
// kqueue-pool: one thread waits for all sockets in a kqueue; a pool of workers (-t) reads, computes and
// writes.
//
//     main      kevent(events) --> the ready peers --> queue <---- deadlines, publications, the stop
//                   ^                                    |
//     workers       |     +------------------------------+ one peer for one worker
//                   |     v
//              kevent(changes) <-- send <-- session <-- recv
//
// Good and bad at: the same as epoll-pool. EV_DISPATCH takes the place of EPOLLONESHOT: after a report the
// filter is disabled, until the worker that has read all enables it again, with a kevent of its own. But each
// direction has its filter: while a worker holds a peer whose input was reported, the report of its output
// may follow. It becomes a note that the worker finds (pool/holding.hpp). A peer from which nothing is wanted
// is watched for a reset by a filter with EV_CLEAR instead: it reports each change once, where an enabled one
// would report the same unread bytes again and again. kqueue.cpp has the traps of EV_EOF.
#include "engines/kqueue.hpp"

#ifdef JOUST_HAVE_KQUEUE

#include <algorithm>
#include <array>

#include "engines/pool/ready_pool.hpp"

namespace joust {
namespace {

using Event = KqueueSet::Event;

class KqueuePool : public ReadyPool {
 public:
  KqueuePool(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index);
  void run();

 private:
  // The filters of a peer, in ReadyPeer::armed.
  static constexpr unsigned kInput = 1, kOutput = 2, kReset = 4;

  std::span<const Event> wait() { return queue_.first(woken(queue_.wait({}, next_wait()), "kevent()")); }
  void dispatch(const Event& event);
  void watch_listeners();
  void add(int fd, void* tag) { queue_.make(std::array{KqueueSet::change(fd, EVFILT_READ, EV_ADD, tag)}); }
  void watch_once(Peer& peer, unsigned events) override;
  bool let_go(Peer& peer) override;

  bool accepting_ = true;  // the listeners are watched
  KqueueSet queue_;
};

KqueuePool::KqueuePool(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index)
    : ReadyPool(hosting, stop, group, index) {
  add(stop.fd(), &stop);
  add(inbox().waker().fd(), &inbox());
  for (Listener* const listener : listeners()) add(listener->fd(), listener);
}

void KqueuePool::run() {
  while (!over()) {
    start_dials();
    watch_listeners();
    for (const Event& event : wait()) dispatch(event);
    finish_turn();
  }
}

void KqueuePool::dispatch(const Event& event) {
  void* const tag = event.udata;
  if (tag == &stop()) {
    if (!awaits_stop()) return;
    queue_.forget(stop().fd(), EVFILT_READ);  // it stays readable, and would wake the loop at once
    for (const Listener* listener : listeners()) queue_.forget(listener->fd(), EVFILT_READ);
    return request_stop();
  }
  if (tag == &inbox()) return admit_dealt();  // clears the waker: a worker has something to report
  for (const Listener* listener : listeners())
    if (tag == listener) return ready_listener(*listener);
  ready(*static_cast<Peer*>(tag), KqueueSet::events_of(event), KqueueSet::error_of(event));
}

// Input and a reset are watched by the same kind of filter, of which a socket has one.
void KqueuePool::watch_once(Peer& peer, unsigned events) {
  unsigned filters = peer.armed == Peer::kUnwatched ? 0 : peer.armed;
  std::array<Event, 3> changes;
  std::size_t count = 0;
  const auto change = [&](int filter, unsigned flags) {
    changes[count++] = KqueueSet::change(peer.socket.get(), filter, flags, &peer);
  };
  const auto watch = [&](int filter, unsigned mode, unsigned bit, unsigned instead) {
    if ((filters & instead) != 0) change(filter, EV_DELETE);
    if ((filters & bit) == 0) change(filter, EV_ADD | mode);
    if ((filters & bit) != 0 && mode == EV_DISPATCH) change(filter, EV_ENABLE);
    filters = (filters & ~instead) | bit;
  };
  if ((events & POLLIN) != 0) watch(EVFILT_READ, EV_DISPATCH, kInput, kReset);
  if ((events & POLLOUT) != 0) watch(EVFILT_WRITE, EV_DISPATCH, kOutput, 0);
  if (events == 0) watch(EVFILT_READ, EV_CLEAR, kReset, kInput);
  queue_.make(std::span(changes).first(count));
  peer.armed = filters;
}

bool KqueuePool::let_go(Peer& peer) {
  if (peer.armed != Peer::kUnwatched) queue_.before_close(peer.socket.get());
  return true;
}

// While accepting is paused, a non-empty accept queue would wake the loop again and again.
void KqueuePool::watch_listeners() {
  if (listeners().empty() || accepting_ == accepts()) return;
  accepting_ = accepts();
  const unsigned flags = accepting_ ? EV_ENABLE : EV_DISABLE;
  for (Listener* const listener : listeners())
    queue_.make(std::array{KqueueSet::change(listener->fd(), EVFILT_READ, flags, listener)});
}

constexpr auto run = run_pool<KqueuePool>;

}  // namespace
}  // namespace joust

#else

namespace joust {
namespace {

constexpr auto run = nullptr;

}  // namespace
}  // namespace joust

#endif

namespace joust {

extern const Engine kKqueuePool{
    .name = "kqueue-pool",
    .summary = "readiness events of macOS and BSD on one thread, work on a pool of threads",
    .several_loops = true,
    .least_threads = 0,
    .threads_share_peers = true,
    .threads = "one, and -t workers (or 0)",
    .unavailable = kqueue_unavailable,
    .run = run,
};

}  // namespace joust
