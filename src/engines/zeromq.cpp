// SPDX-License-Identifier: MIT
//
// zeromq: a ROUTER for all peers of a server, a DEALER for each connection of a client, and one thread with
// two C++20 coroutines for each of these sockets.
//
//     TCP <--> I/O threads <--> queues <--> ZMQ_FD --> epoll_pwait2 --> the receiver  --> session
//          (of the library)                     ^                       co_await a message     |
//                                               +-- zmq_msg_send <----- the sender  <----------+
//                                                                       co_await room
//
// Good at: whole messages over TCP, which the library frames, reconnects and sends in batches. Each message
// passes to another thread and back, so the I/O runs beside the sessions. Bad at: latency, for the same
// reason, and memory, because the queues of a peer hold up to 1,000 messages in each direction. A ROUTER has
// one queue for all its peers, so a session that wants nothing cannot hold its own peer back: its input is
// held, and beyond a limit its connection ends, counted as a failure. Towards a peer back-pressure exists: a
// full pipe leaves the rest with the session. A peer's end is not reported: see zeromq/loop.hpp, which has
// the loop and the coroutines; zeromq/sockets.cpp has the options, and the reasons for them. Where
// descriptors run out, the library's accept spins. Bad too where peers are not trusted: a message of endless
// parts takes all memory, and a peer that guesses the number that the ROUTER gives next ends the program (an
// assertion of the library). Left out on purpose: ZMQ_STREAM, which would be TCP without messages; PUB and
// SUB, which drop messages for a slow peer without a report.
#include <stdexcept>

#include "engines/zeromq/engines.hpp"
#include "engines/zeromq/loop.hpp"
#include "engines/zeromq/sockets.hpp"

namespace joust {
namespace {

class RouterLoop : public ZmqLoop {
 public:
  RouterLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index,
             const ZmqContext& context)
      : ZmqLoop(hosting, stop, group, index, context,
                hosting.serves() ? std::optional(router_for(hosting, context)) : std::nullopt,
                ZmqLink::Kind::router) {}
};

}  // namespace

// optional/with_zeromq.cpp has the descriptor.
extern "C" void joust_run_zeromq(const Hosting& hosting, Stop& stop) {
  const auto frames = TaskFrames::alive();
  const ZmqContext context = context_for(hosting);
  run_loops<RouterLoop>(hosting, stop, context);
  if (TaskFrames::alive() != frames) throw std::logic_error("zeromq: frames are left");
}

}  // namespace joust
