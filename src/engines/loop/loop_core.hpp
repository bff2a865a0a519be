// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/fd.hpp"
#include "engines/loop/dials.hpp"
#include "engines/loop/gathering.hpp"
#include "engines/loop/loops.hpp"
#include "joust/engine.hpp"
#include "net/address.hpp"
#include "net/listener.hpp"
#include "net/stop.hpp"
#include "net/target.hpp"
#include "connection/stream_connection.hpp"
#include "connection/timer_queue.hpp"

namespace joust {

// What every event loop knows of one peer. An engine derives its own from it, with what its kernel interface
// needs.
struct LoopPeer : Timed {
  explicit LoopPeer(Fd&& owned) : socket(std::move(owned)) {}

  bool live() const { return connection && !connection->ended(); }

  Fd socket;
  std::optional<StreamConnection> connection;  // none while connecting
  Dial dial;
  std::size_t index = 0;  // the core's own
  bool leaving = false;   // the core's own: stands in the list of those to be destroyed
};

// The bookkeeping of one event loop, whatever it waits with: who is connected, what is due when, what is
// still to be dialled, whether a publication has to be passed on, how far a stop has come. It never waits,
// reads or writes; where a peer has something to do it calls the engine's `serve(Peer&)`. Peers are destroyed
// only by sweep(), after a batch of events, so that no event left in the batch can meet a descriptor that has
// been given out again.
template <typename Peer>
class LoopCore {
 public:
  LoopCore(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index)
      : hosting_(hosting),
        stop_(stop),
        group_(group),
        index_(index),
        publications_(hosting.service.publications()),
        dials_(hosting, share(hosting.dials, group.size(), index)) {
    if (publications_ != nullptr) publications_->subscribe(inbox().waker());
  }
  ~LoopCore() {
    if (publications_ != nullptr) publications_->unsubscribe(inbox().waker());
  }
  LoopCore(const LoopCore&) = delete;
  LoopCore& operator=(const LoopCore&) = delete;

  Time now() const { return now_; }
  void read_clock() { now_ = Clock::now(); }  // once after each wait: one time stamp for the batch
  Inbox& inbox() { return group_.inbox(index_); }

  Peer& add(Fd socket) {
    peers_.push_back(std::make_unique<Peer>(std::move(socket)));
    peers_.back()->index = peers_.size() - 1;
    return *peers_.back();
  }

  // All there are, connecting or open. add() appends, and sweep() changes the order.
  const std::vector<std::unique_ptr<Peer>>& peers() const { return peers_; }

  // The connection stands: from here on the session speaks.
  void open(Peer& peer) {
    if (hosting_.target != nullptr) hosting_.target->note_facts(peer.socket.get());
    const PeerAddress from = hosting_.target == nullptr ? peer_of(peer.socket.get()) : PeerAddress::unknown;
    peer.connection.emplace(hosting_.service.open({.peer = from}), hosting_.limits, hosting_.tally, now_);
    if (drain_by_) peer.connection->drain(now_);  // it comes too late to be told with the others
  }

  void leave(Peer& peer) {
    if (!std::exchange(peer.leaving, true)) leaving_.push_back(&peer);
  }

  // After a peer has been served: it leaves if its connection is over, and is due again when that says.
  void settle(Peer& peer) {
    if (peer.connection->ended()) return leave(peer);
    if (const auto due = peer.connection->deadline()) timers_.arm(peer, *due);
  }

  // Accepts up to the turn's limit and deals the sockets out; `open(socket)` is called for those of this
  // loop. Pauses accepting where the machine or the connection limit is full.
  template <typename Open>
  void accept_peers(const Listener& listener, int flags, Open&& open) {
    for (unsigned i = 0; i < hosting_.limits.accepts_per_turn; ++i) {
      Accepted accepted = full() ? Accepted{AcceptOutcome::busy, {}} : listener.accept(flags);
      if (accepted.outcome == AcceptOutcome::none) return;
      if (accepted.outcome == AcceptOutcome::busy) return pause_accepting();
      if (auto mine = deal(std::move(accepted.socket))) open(std::move(*mine));
    }
  }

  bool full() const { return room() == 0; }

  // How many more connections may be open.
  std::size_t room() const {
    const std::size_t open = group_.open.load();
    return hosting_.limits.connections - std::min(hosting_.limits.connections, open);
  }

  // Gives an accepted socket to the loop whose turn it is; returned where that is this one, and after a stop,
  // when the other loops should only finish what they have.
  std::optional<Fd> deal(Fd socket) {
    group_.open.fetch_add(1);
    const std::size_t loop = stop_.requested() ? index_ : group_.next_in_turn();
    if (loop == index_) return socket;
    group_.inbox(loop).put(std::move(socket));
    return std::nullopt;
  }

  // Whoever waits in the accept queue stays there for a while; the engine must not ask for the listener
  // meanwhile.
  void pause_accepting() {
    hosting_.tally.note("accepting paused: out of descriptors or memory, or at the connection limit");
    timers_.arm(accept_again_, now_ + hosting_.limits.accept_pause);
  }
  bool accepting_paused() const { return accept_again_.place != Timed::kUnqueued; }

  // Makes sockets for the connects that may start now; `begin(peer, endpoint)` calls connect.
  template <typename Begin>
  void start_dials(int flags, Begin&& begin) {
    while (const auto dial = dials_.start()) {
      Fd socket = socket_for(*dial, flags);
      if (!socket.is_open()) continue;
      Peer& peer = add(std::move(socket));
      group_.open.fetch_add(1);
      peer.dial = *dial;
      timers_.arm(peer, now_ + hosting_.limits.connect);
      begin(peer, hosting_.target->endpoint(dial->endpoint));
    }
  }

  // A connect has ended with this errno, or 0. True when the connection stands and is open.
  bool finish_dial(Peer& peer, int error) {
    if (peer.leaving) return false;
    if (error != 0) {
      dials_.failed(peer.dial, error, now_);
      leave(peer);
      return false;
    }
    dials_.succeeded();
    open(peer);
    return true;
  }

  // When the loop must look again, whatever the kernel has to say.
  std::optional<Time> due() const {
    if (over()) return now_;  // the last dials have failed without the kernel having a say
    if (gathering_.under_way()) return now_;
    const auto next = timers_.next();
    if (!stop_.requested()) return next;
    // A stop looks often, to notice a second one soon.
    const Time tick = now_ + std::chrono::milliseconds(50);
    return next ? std::min(*next, tick) : tick;
  }

  template <typename Serve>
  void fire_deadlines(Serve&& serve) {
    // All that is due first: a session may want to be called again at once, and that is the next turn's.
    due_.clear();
    while (Timed* due = timers_.pop_due(now_)) due_.push_back(due);
    for (Timed* due : due_) {
      if (due == &accept_again_) continue;
      Peer& peer = static_cast<Peer&>(*due);
      if (peer.leaving) continue;
      if (!peer.connection) {
        finish_dial(peer, ETIMEDOUT);
        continue;
      }
      peer.connection->on_time(now_);
      serve(peer);
    }
  }

  // Something became visible to all sessions: each may have output now. To tell them costs a send each, so it
  // pays to wait for what else is just being published and to tell all at once; but never for longer than
  // the telling takes. A load starts without delay.
  template <typename Serve>
  void pass_publications(Serve&& serve) {
    if (publications_ == nullptr || publications_->count() == seen_) return;
    const std::uint64_t count = publications_->count();
    if (hosting_.serves() && gathering_.keep_on(now_, count, peers_.size())) return;
    seen_ = count;
    telling_ = true;
    for (const auto& peer : peers_) {
      if (!peer->connection) continue;
      if (peer->connection->ended()) {
        leave(*peer);  // given up by what was published
        continue;
      }
      peer->connection->refresh(now_);
      serve(*peer);
    }
    telling_ = false;
  }

  // All peers will be asked for output soon: until then nobody is sent a part of it.
  bool is_gathering() const {
    return publications_ != nullptr && hosting_.serves() && !telling_ &&
           publications_->count() != seen_;
  }

  bool draining() const { return drain_by_.has_value(); }

  // A stop comes in two steps, because connections may be on their way from loop 0 to this one. First loop 0
  // ends accepting, and says so; only then may a loop take what is in its inbox for the last time, and drain.
  void end_dealing() {
    if (index_ == 0) group_.end_dealing();
  }
  bool may_drain() const { return !hosting_.serves() || group_.dealing_ended(); }

  // The stop has been requested. What has arrived is answered (`serve` is called for it) before sessions are
  // told.
  template <typename Serve>
  void begin_drain(Serve&& serve) {
    drain_by_ = now_ + hosting_.limits.drain;
    dials_.abandon();
    for (const auto& peer : peers_) {
      if (!peer->live()) {
        leave(*peer);
        continue;
      }
      serve(*peer);
      peer->connection->drain(now_);
      serve(*peer);
    }
  }

  void sweep() {
    sweep([](Peer&) { return true; });
  }

  // The same for engines whose kernel interface may still be working for a peer: it stays until
  // `let_go(peer)` says that this is over.
  template <typename LetGo>
  void sweep(LetGo&& let_go) {
    for (Peer* peer : std::exchange(leaving_, {})) {
      if (!let_go(*peer)) {
        leaving_.push_back(peer);
        continue;
      }
      timers_.remove(*peer);
      group_.open.fetch_sub(1);
      std::swap(peers_[peer->index], peers_.back());
      peers_[peer->index]->index = peer->index;
      peers_.pop_back();
    }
  }

  bool over() const {
    if (stop_.at_once()) return true;
    if (drain_by_) return peers_.empty() || now_ >= *drain_by_;
    return !hosting_.serves() && dials_.done() && peers_.empty();
  }

 private:
  Fd socket_for(Dial dial, int flags) {
    try {
      return hosting_.target->make_socket(dial.endpoint, flags);
    } catch (const std::system_error& error) {
      dials_.failed(dial, {Stage::connect, error.code().value(), hosting_.target->name()}, now_);
      return Fd{};
    }
  }

  const Hosting& hosting_;
  Stop& stop_;
  LoopGroup& group_;
  const std::size_t index_;
  Publications* const publications_;
  std::uint64_t seen_ = 0;  // of publications_
  bool telling_ = false;
  Gathering gathering_;
  Dials dials_;
  TimerQueue timers_;
  Timed accept_again_;  // armed while accepting is paused
  Time now_ = Clock::now();
  std::optional<Time> drain_by_;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::vector<Peer*> leaving_;
  std::vector<Timed*> due_;  // in this turn
};

}  // namespace joust
