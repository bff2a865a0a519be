// SPDX-License-Identifier: MIT
//
// zeromq-pool: a front thread has the ROUTER, and a pool of workers (-t) has the sessions. Each worker is the
// loop of the engine zeromq, with a PAIR to the front in place of the ROUTER.
//
//     ROUTER --> the front --+-- inproc PAIR --> worker 1: epoll_pwait2 --> coroutines --> session
//        ^                   +-- inproc PAIR --> worker 2                                   |
//        +---- the front <------ inproc PAIR <----------------------------------------------+
//
// Order. All messages of a peer go to one worker, which its identity determines; each step on the way there
// and back is a queue. So they are in order, and a session belongs to one thread, without a lock. Good at:
// work that takes longer than a message takes to pass through the front. Bad at: short messages, which the
// front passes one by one, twice; and unequal peers, because a busy worker's peers wait while another one
// sleeps.
//
// Room. A worker whose queue is full makes the front stop reading, which stops all peers. A peer whose pipe
// is full has its messages held by the front, which orders the worker to hold back the rest until the peer
// has room again. The worker also asks after each MiB of a peer whether the front has passed it on. After two
// MiB without an answer it reads nothing more. The commands of the front go by a PAIR of their own, past the
// messages of peers. As a client each worker has DEALERs of its own, and no front exists. Left out on
// purpose: REQ workers that ask for their next request, because one peer's requests could overtake one
// another.
#include <stdexcept>

#include "engines/zeromq/engines.hpp"
#include "engines/zeromq/front.hpp"
#include "engines/zeromq/loop.hpp"
#include "engines/zeromq/sockets.hpp"

namespace joust {
namespace {

class PooledLoop : public ZmqLoop {
 public:
  PooledLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index,
             const ZmqContext& context, ZmqFront* const& front)
      : ZmqLoop(hosting, stop, group, index, context, end_of(front, context, index, Way::messages),
                ZmqLink::Kind::worker, end_of(front, context, index, Way::commands)),
        front_(front),
        index_(index) {}
  ~PooledLoop() override {
    if (front_ != nullptr) front_->worker_ends(index_);
  }

 private:
  static std::optional<ZmqSocket> end_of(const ZmqFront* front, const ZmqContext& context, std::size_t worker,
                                         Way way) {
    if (front == nullptr) return std::nullopt;
    return pair_for(context, worker, way, End::other);
  }

  ZmqFront* const front_;  // null for a client
  const std::size_t index_;
};

}  // namespace

// optional/with_zeromq.cpp has the descriptor.
extern "C" void joust_run_zeromq_pool(const Hosting& hosting, Stop& stop) {
  const auto frames = TaskFrames::alive();
  const ZmqContext context = context_for(hosting);
  {
    std::optional<ZmqFront> front;
    if (hosting.serves()) front.emplace(hosting, stop, context);
    run_loops<PooledLoop>(hosting, stop, context, front ? &*front : nullptr);
    if (front) front->finish();
  }
  if (TaskFrames::alive() != frames) throw std::logic_error("zeromq-pool: frames are left");
}

}  // namespace joust
