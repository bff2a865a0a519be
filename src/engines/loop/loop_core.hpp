// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/fd.hpp"
#include "base/memory.hpp"
#include "connection/stream_connection.hpp"
#include "connection/timer_queue.hpp"
#include "engines/engine.hpp"
#include "engines/loop/dials.hpp"
#include "engines/loop/loops.hpp"
#include "engines/loop/queue.hpp"
#include "engines/loop/waiting.hpp"
#include "net/address.hpp"
#include "net/listener.hpp"
#include "net/stop.hpp"
#include "net/target.hpp"

namespace joust {

// The state of a peer that every event loop of streams needs. An engine derives its own type and adds the
// state of its kernel interface. As a Place, a peer is in one queue of its loop at a time: the peers to be
// served again in this turn or the next, or those that leave.
struct LoopPeer : Timed, Place {
  explicit LoopPeer(Fd&& owned) : socket(std::move(owned)) {}

  bool live() const { return connection && !connection->ended(); }

  Fd socket;
  bool leaving = false;                        // for LoopCore: the next sweep() destroys the peer
  std::optional<StreamConnection> connection;  // none while connecting
  std::size_t index = 0;                       // for LoopCore: the position in peers()
  Dial dial;
};

// Notes that a loop has been told of the stop, which it finishes by and by.
class StopNote {
 protected:
  bool is_stopping() const { return stopping_; }
  void request_stop() { stopping_ = true; }

 private:
  bool stopping_ = false;
};

// The bookkeeping of an event loop, for any kernel interface: peers, deadlines, pending dials, publications,
// and the progress of a stop. It never waits, reads or writes.
//
// The life of a peer: admit() or start_dials() creates it; open() makes its session; attend() calls the
// engine's serve() when it may have work; only leave() ends it, and only sweep() destroys it. sweep() follows
// the batch of events, so that no event in the batch refers to a reused descriptor. A destroyed peer removes
// itself from its queue.
//
// An exception of serve() or of the session ends only that connection, and is counted.
//
// Connections are touched only by tell(), attend() and fail(), so that a pool, whose workers hold the
// connections, needs to override tell() only.
template <typename Peer>
class LoopCore : protected StopNote {
 public:
  LoopCore(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index);
  virtual ~LoopCore();
  LoopCore(const LoopCore&) = delete;
  LoopCore& operator=(const LoopCore&) = delete;

  // Call it when the run begins, and after each wait.
  void read_clock() {
    now_ = Clock::now();
    found_ = false;
  }

 protected:
  // The engine's part. Each may throw for reasons that concern only that peer.
  virtual void connect(Peer& peer) = 0;  // begins a connect to endpoint_of(peer)
  virtual void serve(Peer& peer) = 0;    // the connection may have something to send, or want input
  // Called before sweep() destroys the peer. Returning false delays that to the next sweep(), because the
  // kernel still has operations in flight for the peer. After true, the last one of peers() takes its place
  // there.
  virtual bool let_go(Peer& /*peer*/) { return true; }
  // Returns why no peer can be accepted now, beside the connection limit; empty if one can.
  virtual std::optional<Failure> shortage() { return std::nullopt; }
  virtual std::string_view pause_note() const { return kAcceptingPaused; }  // in the results
  // Passes the loop's news to one peer, which has no dial in progress and is not leaving.
  enum class News : std::uint8_t { established, deadline, published, stop };
  virtual void tell(Peer& peer, News news);

  const Hosting& hosting() const { return hosting_; }
  Stop& stop() { return stop_; }
  Inbox& inbox() { return group_.inbox(index_); }

  // Time. One time stamp is taken for each turn, after the wait; in an open loop also for each event, because
  // its latencies are the result.
  Time now() const { return now_; }
  void stamp() {
    if (hosting_.options.paced) now_ = Clock::now();
  }
  void found_work(std::size_t ready = 1) {
    wait_strategy_.found_work(now_);
    found_ = true;
    chore_.on_work();
    found_since_accepting_ += ready;
  }
  // Evaluates the result of a waiting call and takes the turn's time stamp. Returns the number of ready
  // descriptors: 0 after a signal, and 0 after a pause at a shortage of kernel memory. Throws
  // std::system_error, with the name of the call, for any other error.
  std::size_t woken(int result, const char* call);
  std::optional<Time> due() const;  // when the loop must wake up even without an event
  Duration next_wait() const { return wait_strategy_.next_wait(due(), now_); }  // as --wait demands

  // All peers: connecting, open or leaving. admit() and start_dials() append.
  const std::vector<std::unique_ptr<Peer>>& peers() const { return peers_; }
  void attend(Peer& peer);
  // Fetches the memory of peers that will be attended to soon, `later` after `soon`; both may be null. With
  // thousands of peers their state is no longer in the cache. It is fetched while others are served: first
  // the peer, then the session that the peer points to.
  static void fetch_ahead(const Peer* soon, const Peer* later) {
    if (later != nullptr) prefetch(later, sizeof(Peer));
    if (soon != nullptr && soon->connection) soon->connection->prefetch_session();
  }
  void set_deadline(Peer& peer, Time due) { timers_.arm(peer, std::max(due, now_ + kNextTurn)); }
  // Attends to the peers of earlier turns that an engine has put off. Peers that are put off again come in
  // the next turn.
  void resume(Queue<Peer>& unfinished);
  void leave(Peer& peer);
  void sweep();
  // Calls step(), which may throw for reasons that concern only that peer.
  template <typename Step>
  void guarded(Peer& peer, Step&& step);

  // Role serve. The arguments are those of the Peer's constructor: its socket, as a rule.
  template <typename... Args>
  void admit(Args&&... args);
  // Admits a peer that was not accepted from a listener.
  template <typename... Args>
  void admit_newcomer(Args&&... args) {
    group_.open.fetch_add(1);
    admit(std::forward<Args>(args)...);
  }
  void admit_dealt();
  std::span<Listener* const> listeners() const { return listeners_; }  // those of loop 0, until the stop
  void accept_peers(const Listener& listener, int flags);
  std::size_t accept_quota();
  void accepted(Fd socket);
  bool full() const { return room() == 0; }
  std::size_t room(std::size_t aside = 0) const;       // `aside`: peers that are no connections
  enum class Lack : std::uint8_t { resource, place };  // of the machine; at the connection limit
  void pause_accepting(Lack lack);
  bool accepting_paused() const {
    return accept_again_.place != Timed::kUnqueued && (accept_again_.lack == Lack::resource || full());
  }

  // Role dial
  void start_dials(int flags);
  const Endpoint& endpoint_of(const Peer& peer) const {
    return hosting_.target->endpoint(peer.dial.endpoint);
  }
  void finish_dial(Peer& peer, int error);

  // The steps of a turn, in this order
  void fire_deadlines();
  bool pass_publications();  // returns false while it waits for further ones
  std::uint64_t passed_publications() const { return seen_; }  // any thread
  bool is_batching() const;
  void end_accepting(int flags);
  // Call it in place of end_accepting() if no peer is accepted from listeners: these stay open beyond the
  // loop.
  void end_admitting() {
    if (index_ != 0 || group_.dealing_ended()) return;
    listeners_ = {};
    group_.end_dealing();
  }
  bool may_drain() const { return !hosting_.serves() || group_.dealing_ended(); }
  void begin_drain();
  bool draining() const { return drain_by_.has_value(); }
  bool over() const;

 private:
  template <typename... Args>
  Peer& add(Args&&... args);
  void open(Peer& peer);
  void settle(Peer& peer);
  void fail(Peer& peer, const Failure& failure) noexcept;
  void refuse(const std::exception& error) noexcept;
  std::optional<Fd> deal(Fd socket);
  Fd socket_for(Dial dial, int flags);
  void on_due(Peer& peer);

  // A deadline that is due at once fires in the next turn, so that the deadlines of a turn come to an end.
  static constexpr Duration kNextTurn = std::chrono::nanoseconds(1);
  // During a stop, how often the loop checks for a second stop.
  static constexpr Duration kLookForStop = std::chrono::milliseconds(50);

  // A pause for lack of a place ends as soon as a connection has ended, others only with their time.
  struct AcceptPause : Timed {
    Lack lack = Lack::resource;
  };

  const Hosting& hosting_;
  Stop& stop_;
  LoopGroup& group_;
  const std::size_t index_;
  std::span<Listener* const> listeners_;
  Publications* const publications_;
  std::atomic<std::uint64_t> seen_{0};  // the publication count that the sessions know
  bool telling_ = false;
  BroadcastDelay broadcast_delay_;
  WaitStrategy wait_strategy_;
  Dials dials_;
  TimerQueue timers_;
  AcceptPause accept_again_;               // armed while accepting is paused
  bool found_ = false;                     // work was found in this turn
  std::size_t found_since_accepting_ = 0;  // peers that were ready
  Chore chore_;
  Lateness lateness_;
  Time now_ = Clock::now();
  std::optional<Time> drain_by_;
  std::vector<std::unique_ptr<Peer>> peers_;
  Queue<Peer> leaving_;
};

}  // namespace joust
