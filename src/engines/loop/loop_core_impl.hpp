// SPDX-License-Identifier: MIT
#pragma once

// The definitions of LoopCore, for the files that instantiate it: the life of a peer, and the steps of an
// iteration.
#include "engines/loop/loop_core.hpp"
#include "engines/loop/open_session.hpp"

namespace joust {

template <typename Peer>
LoopCore<Peer>::LoopCore(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index)
    : hosting_(hosting),
      stop_(stop),
      group_(group),
      index_(index),
      listeners_(index == 0 ? hosting.listeners : std::span<Listener* const>{}),
      publications_(hosting.service.publications()),
      wait_strategy_(hosting.options.wait, hosting.options.paced),
      dials_(hosting, share(hosting.dials, group.size(), index),
             share(hosting.vacancies, group.size(), index)),
      chore_(hosting) {
  if (publications_ != nullptr) publications_->subscribe(inbox().waker());
}

template <typename Peer>
LoopCore<Peer>::~LoopCore() {
  if (publications_ != nullptr) publications_->unsubscribe(inbox().waker());
  // After an immediate end, peers in the accept queue would otherwise wait for ever.
  for (Listener* const listener : listeners_) listener->close();
}

// The life of a peer.

template <typename Peer>
template <typename... Args>
Peer& LoopCore<Peer>::add(Args&&... args) {
  timers_.make_room(peers_.size() + 2);  // arming a deadline then never allocates
  peers_.push_back(std::make_unique<Peer>(std::forward<Args>(args)...));
  peers_.back()->index = peers_.size() - 1;
  return *peers_.back();
}

template <typename Peer>
void LoopCore<Peer>::open(Peer& peer) {
  open_session(hosting_, peer, now_);
  if (drain_by_) peer.connection->drain(now_);  // a connection opened after the stop is drained at once
  serve(peer);
  settle(peer);
}

template <typename Peer>
void LoopCore<Peer>::attend(Peer& peer) {
  if (peer.leaving || !peer.connection) return;
  stamp();
  chore_.on_peer();
  guarded(peer, [&] {
    if (!peer.connection->ended()) serve(peer);
    settle(peer);
  });
}

// After a peer has been served: it leaves if its connection has ended; otherwise its deadline is armed.
template <typename Peer>
void LoopCore<Peer>::settle(Peer& peer) {
  if (peer.connection->ended()) return leave(peer);
  if (const auto due = peer.connection->deadline()) set_deadline(peer, *due);
}

template <typename Peer>
void LoopCore<Peer>::resume(Queue<Peer>& unfinished) {
  Queue<Peer> earlier;
  earlier.take_all(unfinished);
  while (Peer* peer = earlier.pop()) {
    found_work();
    attend(*peer);
  }
}

template <typename Peer>
void LoopCore<Peer>::leave(Peer& peer) {
  if (!std::exchange(peer.leaving, true)) leaving_.push(peer);
}

template <typename Peer>
void LoopCore<Peer>::sweep() {
  chore_.do_if_due(now_);
  Queue<Peer> leaving;
  leaving.take_all(leaving_);
  while (Peer* peer = leaving.pop()) {
    if (!let_go(*peer)) {
      leaving_.push(*peer);
      continue;
    }
    timers_.remove(*peer);
    chore_.on_work();  // its memory is free now, also if it ended by a deadline
    group_.closed(hosting_, index_);
    if (peer->dial.connected) dials_.ended();
    const std::size_t place = peer->index;
    std::swap(peers_[place], peers_.back());
    peers_[place]->index = place;
    peers_.pop_back();
  }
}

template <typename Peer>
template <typename Step>
void LoopCore<Peer>::guarded(Peer& peer, Step&& step) {
  try {
    step();
  } catch (const std::exception& error) {
    fail(peer, failure_of(error));
  }
}

template <typename Peer>
void LoopCore<Peer>::fail(Peer& peer, const Failure& failure) noexcept {
  if (peer.leaving) return;
  leave(peer);
  try {
    if (peer.connection) return peer.connection->failed(failure, now_);
    if (peer.dial.in_progress) return dials_.failed(peer.dial, failure, now_);
    hosting_.not_opened(failure, now_);
  } catch (const std::exception&) {
    // The session threw again. The connection ends all the same, and has been counted.
  }
}

// Role serve.

template <typename Peer>
template <typename... Args>
void LoopCore<Peer>::admit(Args&&... args) {
  try {
    Peer& peer = add(std::forward<Args>(args)...);
    guarded(peer, [&] { tell(peer, News::established); });
  } catch (const std::exception& error) {
    refuse(error);
  }
}

// Admits the connections that another loop has accepted for this one.
template <typename Peer>
void LoopCore<Peer>::admit_dealt() {
  for (Fd& socket : inbox().take()) admit(std::move(socket));
}

// Counts a connection as not opened, because no memory is left for the peer's state.
template <typename Peer>
void LoopCore<Peer>::refuse(const std::exception& error) noexcept {
  group_.closed(hosting_, index_);
  hosting_.not_opened(failure_of(error), now_);
}

// Returns how many newcomers a turn takes: the limit, or the number of peers served since the last newcomers
// if that is more, but no more than are open. With thousands of busy peers and the limit alone, the last
// newcomer would wait for seconds.
template <typename Peer>
std::size_t LoopCore<Peer>::accept_quota() {
  const std::size_t served = std::min(std::exchange(found_since_accepting_, 0), peers_.size());
  return std::max<std::size_t>(hosting_.limits.accepts_per_turn, served);
}

// Accepts up to the turn's limit. Pauses at a shortage of the machine or at the connection limit.
template <typename Peer>
void LoopCore<Peer>::accept_peers(const Listener& listener, int flags) {
  for (std::size_t i = accept_quota(); i > 0; --i) {
    if (full()) return pause_accepting(Lack::place);
    if (shortage()) return pause_accepting(Lack::resource);
    Accepted next = listener.accept(flags);
    if (next.outcome == AcceptOutcome::none) return;
    if (next.outcome == AcceptOutcome::busy) return pause_accepting(Lack::resource);
    accepted(std::move(next.socket));
  }
}

// Passes an accepted socket to the next loop in turn.
template <typename Peer>
void LoopCore<Peer>::accepted(Fd socket) {
  try {
    if (auto mine = deal(std::move(socket))) admit(std::move(*mine));
  } catch (const std::exception& error) {
    refuse(error);
  }
}

// Returns the socket if it is this loop's turn. Also returns it after a stop, when the other loops only
// finish their peers.
template <typename Peer>
std::optional<Fd> LoopCore<Peer>::deal(Fd socket) {
  group_.open.fetch_add(1);
  const std::size_t loop = stop_.requested() ? index_ : group_.next_in_turn();
  if (loop == index_) return socket;
  group_.inbox(loop).put(std::move(socket));
  return std::nullopt;
}

// Returns how many more connections may be opened.
template <typename Peer>
std::size_t LoopCore<Peer>::room(std::size_t aside) const {
  return hosting_.room(group_.open.load() - aside);
}

// Pauses accepting. Peers stay in the accept queue meanwhile, and the engine must not watch the listeners.
template <typename Peer>
void LoopCore<Peer>::pause_accepting(Lack lack) {
  hosting_.accepting_pauses(pause_note(), now_);
  accept_again_.lack = lack;
  timers_.arm(accept_again_, now_ + hosting_.limits.accept_pause);
}

// Role dial.

// Makes sockets for the connects that may start now. Called before the wait, when no event is being handled.
template <typename Peer>
void LoopCore<Peer>::start_dials(int flags) {
  while (auto dial = dials_.start(now_)) {
    Fd socket = socket_for(*dial, flags);
    if (!socket.is_open()) continue;
    try {
      Peer& peer = add(std::move(socket));
      group_.open.fetch_add(1);
      peer.dial = *dial;
      peer.dial.give_up = std::min(now_ + hosting_.limits.connect, peer.dial.until);
      timers_.arm(peer, peer.dial.give_up);
      guarded(peer, [&] { connect(peer); });
    } catch (const std::bad_alloc& error) {
      dials_.failed(*dial, failure_of(error), now_);
    }
    sweep();  // closes the descriptor of a connect that was refused at once
  }
}

template <typename Peer>
Fd LoopCore<Peer>::socket_for(Dial dial, int flags) {
  try {
    return hosting_.target->make_socket(dial.endpoint, flags);
  } catch (const std::system_error& error) {
    dials_.failed(dial, {Stage::connect, error.code().value(), hosting_.target->name()}, now_);
    return Fd{};
  }
}

// Handles the end of a connect, with its errno or 0. A full backlog of a unix socket (EAGAIN) is retried
// until the connect limit, as TCP does by itself.
template <typename Peer>
void LoopCore<Peer>::finish_dial(Peer& peer, int error) {
  if (peer.leaving || !peer.dial.in_progress) return;
  guarded(peer, [&] {
    if (is_full_backlog(error, endpoint_of(peer).family())) {
      peer.dial.again = true;
      return timers_.arm(peer, std::min(now_ + Dials::kTryAgain, peer.dial.give_up));
    }
    if (error != 0) {
      leave(peer);
      return dials_.failed(peer.dial, error, now_);
    }
    dials_.succeeded(peer.dial);
    tell(peer, News::established);
  });
}

// The steps of an iteration.

template <typename Peer>
std::optional<Time> LoopCore<Peer>::due() const {
  if (over()) return now_;  // the last dials failed without an event
  if (broadcast_delay_.is_postponing()) return now_;
  auto next = timers_.next();
  if (next) next = lateness_.sleeps_until(*next);
  if (const auto dial = dials_.due()) next = std::min(next.value_or(Time::max()), *dial);
  if (next && *next <= now_ + kNextTurn) return now_;
  if (stop_.requested()) next = std::min(next.value_or(Time::max()), now_ + kLookForStop);
  if (chore_.due() != Time::max()) next = std::min(next.value_or(Time::max()), chore_.due());
  return next;
}

template <typename Peer>
std::size_t LoopCore<Peer>::woken(int result, const char* call) {
  if (result < 0) wait_failed(hosting_, call);
  read_clock();
  if (result > 0) found_work(static_cast<std::size_t>(result));
  return result > 0 ? static_cast<std::size_t>(result) : 0;
}

template <typename Peer>
void LoopCore<Peer>::fire_deadlines() {
  if (lateness_.puts_off(timers_.next().value_or(Time::max()), found_, now_)) return;
  // Fires the deadlines up to this turn's time, though stamp() moves on: sending must not keep the loop from
  // reading.
  const Time until = now_;
  while (Timed* due = timers_.pop_due(until)) {
    if (due == &accept_again_) continue;
    Peer& peer = static_cast<Peer&>(*due);
    if (!peer.leaving) guarded(peer, [&] { on_due(peer); });
  }
}

template <typename Peer>
void LoopCore<Peer>::on_due(Peer& peer) {
  if (!peer.dial.in_progress) return tell(peer, News::deadline);
  if (now_ >= peer.dial.give_up) return finish_dial(peer, ETIMEDOUT);
  timers_.arm(peer, peer.dial.give_up);
  if (std::exchange(peer.dial.again, false)) connect(peer);
}

// Passes publications to all sessions, which then have new output. Sending it takes one send each, so a
// server waits for further publications and sends them together, for at most the sending time. A load starts
// without delay.
template <typename Peer>
bool LoopCore<Peer>::pass_publications() {
  if (publications_ == nullptr || publications_->count() == seen_) return true;
  const std::uint64_t count = publications_->count();
  if (hosting_.serves() && broadcast_delay_.postpones(now_, count, peers_.size())) return false;
  seen_ = count;
  telling_ = true;
  for (const auto& peer : peers_) {
    if (peer->dial.in_progress || peer->leaving) continue;
    guarded(*peer, [&] { tell(*peer, News::published); });
  }
  telling_ = false;
  return true;
}

template <typename Peer>
void LoopCore<Peer>::tell(Peer& peer, News news) {
  if (news == News::established) return open(peer);
  if (news == News::published) peer.connection->refresh(now_);
  if (news == News::deadline) {
    stamp();
    peer.connection->on_time(now_);
  }
  // Requests that have arrived are answered before the session gets the stop.
  attend(peer);
  if (news != News::stop || peer.leaving) return;
  peer.connection->drain(now_);
  attend(peer);
}

// Returns true while publications are about to be passed to all peers: until then no part of their output is
// sent.
template <typename Peer>
bool LoopCore<Peer>::is_batching() const {
  return publications_ != nullptr && hosting_.serves() && !telling_ && publications_->count() != seen_;
}

// A stop has two steps, because connections may be on their way from loop 0 to another loop. First loop 0
// accepts the peers left in the queue, ends accepting, and informs the other loops. Only then may a loop take
// its inbox for the last time, and drain.
template <typename Peer>
void LoopCore<Peer>::end_accepting(int flags) {
  if (index_ != 0 || !hosting_.serves() || group_.dealing_ended()) return;
  const Time until = now_ + hosting_.limits.drain;
  for (Listener* const listener : std::exchange(listeners_, {})) {
    const auto take = [this](Fd socket) { accepted(std::move(socket)); };
    if (!listener->take_queued(flags, room(), until, take)) hosting_.tally.note(kLeftInQueue);
    listener->close();
  }
  group_.end_dealing();
}

template <typename Peer>
void LoopCore<Peer>::begin_drain() {
  drain_by_ = now_ + hosting_.limits.drain;
  dials_.abandon();
  for (const auto& peer : peers_) {
    if (peer->dial.in_progress)
      leave(*peer);
    else if (!peer->leaving)
      guarded(*peer, [&] { tell(*peer, News::stop); });
  }
}

template <typename Peer>
bool LoopCore<Peer>::over() const {
  if (stop_.at_once()) return true;
  if (drain_by_) return peers_.empty() || now_ >= *drain_by_;
  return !hosting_.serves() && dials_.done() && peers_.empty();
}

}  // namespace joust
