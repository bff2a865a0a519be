// SPDX-License-Identifier: MIT
//
// zeromq-pool: the loop of the engine zeromq on each of several threads (-t). Each has a ROUTER of its own,
// and all ROUTERs listen on the same port.
//
//     connection --> SO_REUSEPORT --+-- ROUTER --> loop 1: epoll_pwait2 --> coroutines --> session
//                                   +-- ROUTER --> loop 2
//
// A connection belongs to one ROUTER, so a session belongs to one thread, without a lock, and its messages
// keep their order. Good at: work that takes long, and short messages too, because no thread passes them on.
// Bad at: few peers, which the kernel's hash spreads unevenly, and unequal ones, because a busy thread's
// peers wait while another thread sleeps. Loops on the path of a unix socket accept from one queue, and the
// first one that wakes takes the connection. As a client each loop has DEALERs of its own. Left out on
// purpose: the guide's front thread, one ROUTER that passes messages to workers over inproc and back. It
// would be two further queues for each message, and a slow peer's replies would have to wait in it, behind
// the back of their session.
#include "engines/zeromq/loop.hpp"

namespace joust {

// modules.cpp has the descriptor.
extern "C" void joust_run_zeromq_pool(const Hosting& hosting, Stop& stop) {
  run_zeromq(hosting, stop);
}

}  // namespace joust
