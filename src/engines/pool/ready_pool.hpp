// SPDX-License-Identifier: MIT
#pragma once

#include <poll.h>

#include <atomic>
#include <cstddef>
#include <deque>

#include "engines/loop/ready.hpp"
#include "engines/pool/pool_core.hpp"

namespace joust {

struct ReadyPoolPeer : ReadyPeer, PoolPeer {
  using ReadyPeer::ReadyPeer;

  bool unfinished = false;         // the turn's quota was used up: more may be left to read or to send
  std::atomic<int> told_error{0};  // set by the main thread; the holder copies it to ReadyPeer::error
};

// The core of the pools with a readiness interface; Polled adds the wait, in the main thread. A peer is
// watched with kOnce: no two workers read from one socket. Events are those of poll(2).
class ReadyPool : public PoolCore<ReadyPoolPeer> {
 public:
  using Peer = ReadyPoolPeer;

  ReadyPool(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index);

 protected:
  virtual void watch(Peer& peer, unsigned events) = 0;
  static void take_reports(Reports /*reports*/) {}
  static void fetch_ahead(const Peer* /*soon*/, const Peer* /*later*/) {}  // the workers use the peers

  void start_dials();
  void ready_peer(Peer& peer, unsigned events, int error);
  void ready_listener(const Listener& listener);

 private:
  void connect(Peer& peer) override;
  void exchange(Peer& peer, unsigned notes, std::size_t worker, Time now) override;
  bool rest(Peer& peer) override;
  void stop_by_and_by() override;

  std::deque<ReadyExchange> exchanges_;  // one for each worker
};

}  // namespace joust
