// SPDX-License-Identifier: MIT
#pragma once

#include <poll.h>

#include <atomic>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "engines/engine.hpp"
#include "engines/peer_threads/peer_threads.hpp"
#include "engines/loop/vacancies.hpp"
#include "net/listener.hpp"
#include "net/stop.hpp"

namespace joust {

// The thread that runs the engine: it accepts or dials, and manages the threads of the connections.
class Host {
 public:
  Host(const Hosting& hosting, Stop& stop, PeerThreads::MakePeer make);
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  void run();

 private:
  void dial(ThreadedPeer& peer);
  bool over() const {
    return peer_threads_.size() == 0 &&
           (drain_by_ || (!hosting_.serves() && undialled_ == 0 && vacancies_.empty()));
  }
  void wait();
  void accept_from_ready();
  void accept_peers(const Listener& listener);
  void start_dials();
  bool take_on(Fd socket, Time dial_until = Time::max());
  void attend_threads();
  void begin_drain();

  const Hosting& hosting_;
  Stop& stop_;
  std::span<Listener* const> listeners_;  // empty after the stop
  std::vector<pollfd> events_;            // for ppoll: the peers, the stop, and the listeners in their order
  std::size_t undialled_;                 // connections that are not dialled yet
  Vacancies vacancies_;
  std::atomic<std::size_t> connecting_{0};  // dials in progress
  Time now_ = Clock::now();
  std::optional<Time> accept_again_;  // set while accepting is paused
  std::optional<Time> drain_by_;
  PeerThreads peer_threads_;
};

}  // namespace joust
