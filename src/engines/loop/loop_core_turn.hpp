// SPDX-License-Identifier: MIT
#pragma once

// The definitions of LoopCore: the steps of a turn.
#include "engines/loop/loop_core.hpp"

namespace joust {

// Returns when the loop must wake up even without an event.
template <typename Peer>
std::optional<Time> LoopCore<Peer>::due() const {
  if (over()) return now_;  // the last dials failed without an event
  if (broadcast_delay_.is_postponing()) return now_;
  auto next = timers_.next();
  if (next) next = lateness_.sleeps_until(*next);
  if (const auto dial = dials_.due()) next = std::min(next.value_or(Time::max()), *dial);
  if (next && *next <= now_ + kNextTurn) return now_;
  if (stop_.requested()) next = std::min(next.value_or(Time::max()), now_ + kLookForStop);
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
void LoopCore<Peer>::pass_publications() {
  if (publications_ == nullptr || publications_->count() == seen_) return;
  const std::uint64_t count = publications_->count();
  if (hosting_.serves() && broadcast_delay_.postpones(now_, count, peers_.size())) return;
  seen_ = count;
  telling_ = true;
  for (const auto& peer : peers_) {
    if (peer->dial.in_progress || peer->leaving) continue;
    guarded(*peer, [&] { tell(*peer, News::published); });
  }
  telling_ = false;
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
