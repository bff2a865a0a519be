// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "engines/asio/library.hpp"
#include "engines/asio/peer.hpp"
#include "engines/engine.hpp"
#include "engines/loop/dials.hpp"
#include "engines/loop/queue.hpp"
#include "engines/loop/waiting.hpp"
#include "net/listener.hpp"
#include "net/stop.hpp"

namespace joust {

// Dials the connections of an engine on Asio. Runs on the strand of the engine's hub.
class AsioDialling {
 public:
  // `context` returns the context of the next connection; `admit` takes the connected socket; `on_done` is
  // called after the last dial.
  AsioDialling(const Hosting& hosting, AsioHome& home, std::function<AsioExecutor()> context,
               std::function<void(AsioSocket)> admit, std::function<void()> on_done);
  // Starts as many connects as may be in progress. Call it again after a publication, because lost
  // connections may be dialled again from then on.
  void start();
  void ended();    // an admitted connection has ended
  void abandon();  // the program is stopping
  bool is_done() const { return dials_.done(); }

 private:
  struct Attempt {
    Dial dial;
    AsioSocket socket;
    AsioTimer timer;
  };
  using Shared = std::shared_ptr<Attempt>;

  void begin(const Dial& dial);
  void give_up(const Shared& attempt, Dial& dial, const Failure& failure);
  void connect(const Shared& attempt);
  void connected(const Shared& attempt, int error);
  void set_timer(const Shared& attempt, Time when);
  void on_timer(const Shared& attempt);
  void end(const Shared& attempt);

  const Hosting& hosting_;
  AsioHome& home_;
  const std::function<AsioExecutor()> context_;
  const std::function<void(AsioSocket)> admit_;
  const std::function<void()> on_done_;
  Dials dials_;
  AsioTimer again_;  // expires when lost connections are dialled again
  std::set<Shared> attempts_;
};

// The contexts of a run. The connections are distributed over them in turn.
class AsioContexts {
 public:
  explicit AsioContexts(std::vector<AsioExecutor> all) : all_(std::move(all)) {}
  const AsioExecutor& front() const { return all_.front(); }
  AsioExecutor next() { return all_[turn_++ % all_.size()]; }

 private:
  const std::vector<AsioExecutor> all_;
  std::size_t turn_ = 0;
};

// The chores of a server whose contexts are run by one thread.
class AsioChores {
 public:
  AsioChores(const Hosting& hosting, AsioHome& home)
      : wanted_(hosting.chore != nullptr), chore_(hosting), home_(home), timer_(home.context()) {}
  void on_work() {  // of a peer
    if (!wanted_) return;
    chore_.on_work();
    if (!is_waiting_) go_on();
  }
  void end();

 private:
  void go_on();

  bool wanted_;  // if there is one thread, which is the only one to change it
  Chore chore_;
  AsioHome& home_;
  AsioTimer timer_;
  bool is_waiting_ = false;
};

// Does the work of an engine on Asio besides its connections: accepts, dials, gathers publications, and
// stops. All of it runs on one strand, as operations of the library. When the last connection has ended and
// no further one is to come, no operation is left to wait for, and io_context::run() returns.
class AsioHub {
 public:
  using MakePeer = std::function<std::shared_ptr<AsioPeer>(AsioHub&, AsioSocket)>;
  // `on_over` is called when the run is over.
  AsioHub(const Hosting& hosting, Stop& stop, std::vector<AsioExecutor> contexts, MakePeer make,
          std::function<void()> on_over, AsioReserve& reserve);
  ~AsioHub();
  AsioHub(const AsioHub&) = delete;
  AsioHub& operator=(const AsioHub&) = delete;

  // Called by any thread:
  const Hosting& hosting() const { return hosting_; }
  void found_work() { chores_.on_work(); }  // a peer takes a step
  bool is_batching() const;            // publications will be passed on soon; no peer sends output until then
  void left(AsioPeer& peer) noexcept;  // the peer has closed its socket

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
  void await(AsioLoan<AsioDescriptor>& descriptor, void (AsioHub::*step)());
  void hear_news();
  bool gather();
  void tell_all(AsioPeer::News news);
  void close_doors();
  void begin_drain();
  void end_all();
  void end_if_over();

  const Hosting& hosting_;
  const Stop& request_;
  AsioContexts contexts_;
  const MakePeer make_;
  const std::function<void()> on_over_;
  Publications* const publications_;
  Waker waker_;  // at a publication, and when a peer has left
  AsioHome home_;
  AsioLoan<AsioDescriptor> stop_;
  AsioLoan<AsioDescriptor> stop_at_once_;
  AsioLoan<AsioDescriptor> news_;
  AsioTimer drain_limit_;
  AsioChores chores_;
  std::deque<Door> doors_;
  AsioDialling dialling_;
  enum class Phase : std::uint8_t { running, stopping, over } phase_ = Phase::running;
  bool at_once_ = false;
  std::atomic<std::uint64_t> told_{0};  // the publication count that was passed to all peers
  BroadcastDelay broadcast_delay_;
  std::vector<std::shared_ptr<AsioPeer>> peers_;
  SharedQueue<AsioPeer> left_;
};

}  // namespace joust
