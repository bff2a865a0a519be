// SPDX-License-Identifier: MIT
#pragma once

#include <deque>

#include "engines/loop/loops.hpp"
#include "engines/loop/poller.hpp"
#include "net/listener.hpp"
#include "net/stop.hpp"

namespace joust {

// The turn of every loop that waits with a poller, and its doors: the stop, the inbox and the listeners. The
// core keeps the peers and serves them: ReadyLoop, ReadyPool, or an engine's own.
template <typename Core, typename Poller>
class Polled : public Core {
 public:
  using typename Core::Peer;

  Polled(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index)
      : Core(hosting, stop, group, index), poller_(hosting) {
    this->take_reports(poller_.reports());
    poller_.watch(stop.fd(), always_.stop, POLLIN);
    poller_.watch(this->inbox().waker().fd(), always_.inbox, POLLIN);
    for (const Listener* listener : this->listeners()) doors_.emplace_back(*listener);
    for (Door& door : doors_) poller_.watch(door.listener.fd(), door, 0);
  }
  // The poller still refers to peers that are left after an immediate end.
  ~Polled() override {
    for (const auto& peer : this->peers()) let_go(*peer);
  }

  void run() {
    while (!this->over()) {
      this->start_dials();
      watch_doors();
      poller_.wait(*this, this->next_wait());
      this->finish_turn();
    }
  }

  // For the poller:
  using Core::found_work;
  using Core::woken;
  void fetch_ahead(const Watched* soon, const Watched* later) {
    const bool is_peer = soon != nullptr && soon->kind == Watched::Kind::peer;
    // Nothing of `later` is read: to look whether it is a peer would wait for the memory that is fetched.
    Core::fetch_ahead(is_peer ? static_cast<const Peer*>(soon) : nullptr, static_cast<const Peer*>(later));
  }
  void ready(Watched& what, unsigned events, int error = 0) {
    switch (what.kind) {
      case Watched::Kind::peer:
        return this->ready_peer(static_cast<Peer&>(what), events, error);
      case Watched::Kind::listener:
        if (accepts()) this->ready_listener(static_cast<Door&>(what).listener);
        return;
      case Watched::Kind::inbox:
        return this->admit_dealt();
      case Watched::Kind::shared:
        break;
      case Watched::Kind::stop:
        return begin_stop();
    }
  }

 private:
  struct Door : Watched {
    explicit Door(const Listener& watched) : Watched{Kind::listener}, listener(watched) {}
    const Listener& listener;
  };

  bool accepts() const { return !this->listeners().empty() && !this->accepting_paused(); }
  // While accepting is paused, a non-empty accept queue would wake the loop again and again.
  void watch_doors() {
    const unsigned events = accepts() ? POLLIN : 0U;
    for (Door& door : doors_)
      if (!this->is_stopping() && door.armed != events) poller_.watch(door.listener.fd(), door, events);
  }
  // The stop stays readable. A listener is forgotten before it is closed, because a process that was forked
  // may share it.
  void begin_stop() {
    if (this->is_stopping()) return;
    poller_.forget(this->stop().fd(), always_.stop);
    for (Door& door : doors_) poller_.forget(door.listener.fd(), door);
    this->request_stop();
  }
  void watch(Peer& peer, unsigned events) final { poller_.watch(peer.socket.get(), peer, events); }
  bool let_go(Peer& peer) final {
    if (peer.armed != Watched::kUnwatched) poller_.forget(peer.socket.get(), peer);
    peer.armed = Watched::kUnwatched;
    return true;
  }

  Doors always_;
  std::deque<Door> doors_;
  Poller poller_;
};

}  // namespace joust
