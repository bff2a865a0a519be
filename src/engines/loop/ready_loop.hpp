// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>

#include "engines/loop/loop_core.hpp"
#include "engines/loop/poller.hpp"
#include "engines/loop/ready_exchange.hpp"

namespace joust {

// The core of the loops that read from and write to ready sockets themselves, in their own thread; Polled
// adds the wait. Events are those of poll(2): POLLIN, POLLOUT, kReadHangUp, POLLHUP, POLLERR.
class ReadyLoop : public LoopCore<ReadyPeer> {
 public:
  using Peer = ReadyPeer;

  ReadyLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index)
      : ReadyLoop(hosting, stop, group, index, std::make_unique<ReadyExchange>(hosting)) {}
  ReadyLoop(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index,
            std::unique_ptr<ReadyExchange> exchange);

 protected:
  virtual void watch(Peer& peer, unsigned events) = 0;
  void take_reports(Reports reports) { reports_ = reports; }

  void start_dials();
  Duration next_wait() const;
  void ready_peer(Peer& peer, unsigned events, int error);
  void ready_listener(const Listener& listener);
  void finish_turn();

 private:
  unsigned wanted(const Peer& peer) const;
  void arm(Peer& peer);
  void connect(Peer& peer) override;
  void serve(Peer& peer) override;
  void look_for_resets();
  void stop_by_and_by();

  Reports reports_;
  bool any_unseen_ = false;  // the reset of some peer is not reported: it is looked for
  Time look_at_{};
  const std::unique_ptr<ReadyExchange> exchange_;
  Queue<Peer> unfinished_;  // more to read or to send than the turn's quota allows
};

}  // namespace joust
