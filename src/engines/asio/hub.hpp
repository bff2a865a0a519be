// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engines/asio/dialling.hpp"
#include "engines/asio/library.hpp"
#include "engines/asio/peer.hpp"
#include "engines/engine.hpp"
#include "engines/loop/broadcast_delay.hpp"
#include "net/listener.hpp"
#include "net/stop.hpp"
#include "net/waker.hpp"

namespace joust {

// Does the work of an engine on Asio besides its connections: accepts, dials, gathers publications, and
// stops. All of it runs on one strand, as operations of the library. When the last connection has ended and
// no further one is to come, no operation is left to wait for, and io_context::run() returns.
class AsioHub {
 public:
  using MakePeer = std::function<std::shared_ptr<AsioPeer>(AsioHub&, AsioSocket)>;
  // The connections are distributed over the contexts in turn. `on_over` is called when the run is over.
  AsioHub(const Hosting& hosting, Stop& stop, std::vector<AsioExecutor> contexts, MakePeer make,
          std::function<void()> on_over);
  ~AsioHub();
  AsioHub(const AsioHub&) = delete;
  AsioHub& operator=(const AsioHub&) = delete;

  // Called by any thread:
  const Hosting& hosting() const { return hosting_; }
  bool is_batching() const;  // publications will be passed on soon; no peer sends output until then
  void left(std::shared_ptr<AsioPeer> peer);  // the peer has closed its socket

 private:
  struct Door {
    const Listener& listener;
    AsioLoan<AsioAcceptor> acceptor;
    AsioTimer pause;
    bool is_paused = false;
  };

  void begin();
  void accept(Door& door);
  void accepted(Door& door, const AsioError& error, AsioSocket socket);
  void pause_accepting(Door& door);
  void admit(AsioSocket socket);
  void admit(int family, Fd socket);
  void await(AsioLoan<AsioDescriptor>& descriptor, void (AsioHub::*step)());
  void gather();
  void tell_all(AsioPeer::News news);
  void close_doors();
  void begin_drain();
  void end_all();
  void end_if_over();
  AsioExecutor next_context() { return contexts_[turn_++ % contexts_.size()]; }

  const Hosting& hosting_;
  const Stop& request_;
  const std::vector<AsioExecutor> contexts_;
  const MakePeer make_;
  const std::function<void()> on_over_;
  Publications* const publications_;
  Waker waker_;
  AsioStrand home_;
  AsioLoan<AsioDescriptor> stop_;
  AsioLoan<AsioDescriptor> stop_at_once_;
  AsioLoan<AsioDescriptor> publication_;
  AsioTimer drain_limit_;
  std::deque<Door> doors_;
  AsioDialling dialling_;
  std::size_t turn_ = 0;
  bool stopping_ = false;
  bool at_once_ = false;
  bool over_ = false;
  std::atomic<std::uint64_t> told_{0};  // the publication count that was passed to all peers
  BroadcastDelay broadcast_delay_;
  std::vector<std::shared_ptr<AsioPeer>> peers_;
};

}  // namespace joust
