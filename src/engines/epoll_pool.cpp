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
// main thread closes. `-t 0` does all of this in the main thread, to compare. pool/hand_over.hpp explains who
// may use a peer, and how deadlines, publications and the stop reach one that a worker holds. Left out on
// purpose: workers that wait in epoll themselves (the kernel wakes each of them, and the loop's deadlines
// have no owner), and a queue for each worker, because a slow peer would then delay those behind it.
#include "engines/epoll.hpp"
#include "engines/loop/polled.hpp"
#include "engines/pool/ready_pool.hpp"

namespace joust {

extern const Engine kEpollPool{
    .name = "epoll-pool",
    .summary = "readiness events for many sockets on one thread, work on a pool of threads",
    .several_loops = true,
    .least_threads = 0,
    .threads_share_peers = true,
    .threads = "one, and -t workers (or 0)",
    .run = run_pool<Polled<ReadyPool, Epoll>>,
};

}  // namespace joust
