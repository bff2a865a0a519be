// SPDX-License-Identifier: MIT
// Needs kqueue: kqueue is the interface of macOS and BSD; libkqueue was not found when this was built
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
// may follow. It becomes a note that the worker finds (pool/hand_over.hpp). A peer from which nothing is
// wanted is watched for a reset by a filter with EV_CLEAR instead: it reports each change once, where an
// enabled one would report the same unread bytes again and again. kqueue.cpp has the traps of EV_EOF.
#include "engines/kqueue.hpp"

#include "engines/loop/polled.hpp"
#include "engines/pool/ready_pool.hpp"

namespace joust {

extern const Engine kKqueuePool{
    .name = "kqueue-pool",
    .summary = "readiness events of macOS and BSD on one thread, work on a pool of threads",
    .several_loops = true,
    .least_threads = 0,
    .threads_share_peers = true,
    .threads = "one, and -t workers (or 0)",
    .unavailable = kqueue_unavailable,
    .run = run_pool<Polled<ReadyPool, Kqueue>>,
};

}  // namespace joust
