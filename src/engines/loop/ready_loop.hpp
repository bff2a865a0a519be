// SPDX-License-Identifier: MIT
#pragma once

#include <poll.h>

#include <cstddef>
#include <memory>

#include "engines/loop/loop_core.hpp"
#include "engines/loop/ready_exchange.hpp"

namespace joust {

// The steps that follow when a socket is ready, shared by select, poll, epoll and kqueue. The engine waits in
// its own way and reports the events here; ready peers are read from and written to within their quota. A
// turn of an engine's loop is:
//
//     start_dials(); wait, then for what the kernel reports:
//       ready(peer, events), ready_listener(listener), admit_dealt() (the inbox), request_stop() (the stop)
//     finish_turn();
//
// Events are those of poll(2): POLLIN, POLLOUT, kReadHangUp, POLLHUP, POLLERR.
class ReadyLoop : public LoopCore<ReadyPeer> {
 public:
  using Peer = ReadyPeer;

  ReadyLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index);
  ReadyLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index,
            std::unique_ptr<ReadyExchange> exchange);

 protected:
  // The engine's part: watches the events of interest(), if these have changed. A peer is watched from its
  // first serve() to its end; let_go() reports the end.
  virtual void watch(Peer& peer) = 0;

  // Returns POLLIN, POLLOUT, both or neither. A peer without an interest is still watched for a reset.
  unsigned interest(const Peer& peer) const;
  // Returns true if the listeners are to be watched, because more connections may be opened.
  bool accepts() const { return !listeners().empty() && !accepting_paused(); }
  // Returns true until the stop has been handled. The stop's descriptor stays readable for good.
  bool awaits_stop() const { return !stopping_; }

  void start_dials();
  Duration next_wait() const;

  void ready(Peer& peer, unsigned events);
  // Checks for a reset: see ReadyExchange. The engine calls attend() next.
  void look_for_reset(Peer& peer);
  void ready_listener(const Listener& listener);
  void request_stop() { stopping_ = true; }
  void finish_turn();

 private:
  void connect(Peer& peer) override;
  void serve(Peer& peer) override;
  void stop_by_and_by();

  bool stopping_ = false;
  const std::unique_ptr<ReadyExchange> exchange_;
  Queue<Peer> unfinished_;  // more to read or to send than the turn's quota allows
};

}  // namespace joust
