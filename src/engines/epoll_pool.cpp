// SPDX-License-Identifier: MIT
// Needs Linux: epoll is the interface of Linux; kqueue is its counterpart here
//
// epoll-pool: one thread waits for all sockets; a pool of workers (-t) reads, computes and writes.
//
//     main     epoll_pwait2 --> the ready peers --> queue <---- deadlines, publications, the stop
//                   ^                                 |
//     workers       |     +---------------------------+ one peer for one worker
//                   |     v
//              epoll_ctl(MOD) <-- send <-- session <-- recv
//
// Good at: requests that compute for long: a slow one keeps one worker, and delays no other peer as long as
// another worker is free. Bad at: small messages, because each passes through a lock, is often handled on
// another core than the wait, and takes one more system call. EPOLLONESHOT makes the pool safe: after a
// report the kernel is silent about that socket until the worker, having read all, watches it again. So no
// two workers read from one socket, and none of them reads a descriptor that another has closed: only the
// main thread closes. `-t 0` does all of this in the main thread, to compare. pool/holding.hpp explains who
// may use a peer, and how deadlines, publications and the stop reach one that a worker holds. Left out on
// purpose: workers that wait in epoll themselves (the kernel wakes each of them, and the loop's deadlines
// have no owner), and a queue for each worker, because a slow peer would then delay those behind it.
#include <sys/epoll.h>

#include <array>

#include "engines/epoll.hpp"
#include "engines/pool/ready_pool.hpp"

namespace joust {
namespace {

class EpollPool : public ReadyPool {
 public:
  EpollPool(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index);
  void run();

 private:
  std::span<const epoll_event> wait();
  void dispatch(const epoll_event& event);
  void watch_once(Peer& peer, unsigned events) override;
  bool let_go(Peer& peer) override { return epoll_.let_go(peer); }

  EpollSet epoll_;
};

EpollPool::EpollPool(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index)
    : ReadyPool(hosting, stop, group, index) {
  epoll_.control(EPOLL_CTL_ADD, stop.fd(), EPOLLIN, &stop);
  epoll_.control(EPOLL_CTL_ADD, inbox().waker().fd(), EPOLLIN, &inbox());
  epoll_.add(listeners());
}

void EpollPool::run() {
  while (!over()) {
    start_dials();
    epoll_.watch(listeners(), accepts());
    for (const epoll_event& event : wait()) dispatch(event);
    finish_turn();
  }
}

std::span<const epoll_event> EpollPool::wait() {
  return epoll_.first(woken(epoll_.wait(next_wait(), hosting().tally), "epoll_pwait2()"));
}

void EpollPool::dispatch(const epoll_event& event) {
  void* const tag = event.data.ptr;
  if (tag == &stop()) {
    // The stop's descriptor stays readable, and would wake the loop at once.
    epoll_.control(EPOLL_CTL_DEL, stop().fd(), 0, nullptr);
    epoll_.remove(listeners());
    return request_stop();
  }
  if (tag == &inbox()) return admit_dealt();  // clears the waker: a worker has something to report
  for (const Listener* listener : listeners())
    if (tag == listener) return ready_listener(*listener);
  ready(*static_cast<Peer*>(tag), event.events);
}

// The watch is level-triggered, so events that are pending already are reported, too.
void EpollPool::watch_once(Peer& peer, unsigned events) {
  const int operation = peer.armed == Peer::kUnwatched ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  epoll_.control(operation, peer.socket.get(), events | EPOLLONESHOT, &peer);
  peer.armed = events;
}

}  // namespace

extern const Engine kEpollPool{
    .name = "epoll-pool",
    .summary = "readiness events for many sockets on one thread, work on a pool of threads",
    .several_loops = true,
    .least_threads = 0,
    .threads_share_peers = true,
    .threads = "one, and -t workers (or 0)",
    .run = run_pool<EpollPool>,
};

}  // namespace joust
