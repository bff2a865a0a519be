// SPDX-License-Identifier: MIT
#pragma once

#include <poll.h>

#include <atomic>
#include <cstddef>
#include <deque>

#include "engines/loop/ready_exchange.hpp"
#include "engines/pool/pool_core.hpp"

namespace joust {

struct ReadyPoolPeer : ReadyPeer, PoolPeer {
  using ReadyPeer::ReadyPeer;

  bool unfinished = false;         // the turn's quota was used up: more may be left to read or to send
  std::atomic<int> told_error{0};  // set by the main thread; the holder copies it to ReadyPeer::error
};

// The steps that follow when a socket is ready, shared by the pools with a readiness interface. A turn of
// the main thread is:
//
//     start_dials(); wait, then for what the kernel reports:
//       ready(peer, events), ready_listener(listener), admit_dealt() (the inbox), request_stop() (the stop)
//     finish_turn();
//
// Events are those of poll(2), as in ReadyLoop.
class ReadyPool : public PoolCore<ReadyPoolPeer> {
 public:
  using Peer = ReadyPoolPeer;

  ReadyPool(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index);

 protected:
  // The engine's part, called by any thread, but for one peer by one thread at a time. The main thread gets
  // one report when one of these events (or a hang-up) is next there, and then none.
  virtual void watch_once(Peer& peer, unsigned events) = 0;

  // Returns true if the listeners are to be watched, because more connections may be opened.
  bool accepts() const { return !listeners().empty() && !accepting_paused(); }

  void start_dials();
  // `error` is that of the socket, where the kernel reports it with the event.
  void ready(Peer& peer, unsigned events, int error = 0);
  void ready_listener(const Listener& listener);

 private:
  void connect(Peer& peer) override;
  void exchange(Peer& peer, unsigned notes, std::size_t worker, Time now) override;
  bool rest(Peer& peer) override;
  void stop_by_and_by() override;

  std::deque<ReadyExchange> exchanges_;  // one for each worker
};

}  // namespace joust
