// SPDX-License-Identifier: MIT
#pragma once

// The definitions of PoolCore, for the files that instantiate it.
#include <fmt/format.h>

#include "base/signals.hpp"
#include "engines/pool/pool_core.hpp"

namespace joust {

template <typename Peer>
PoolCore<Peer>::PoolCore(const Hosting& hosting, Stop& stop, LoopGroup& group, std::size_t index)
    : LoopCore<Peer>(hosting, stop, group, index),
      publications_(hosting.service.publications()),
      tasks_(hosting.options.wait) {}

template <typename Peer>
PoolCore<Peer>::Workers::Workers(PoolCore& pool) : pool_(pool) {
  const std::size_t count = pool.hosting().options.threads;
  const auto run = [this](std::size_t worker) {
    const SigpipeBlock block;  // for send_file()
    while (Peer* peer = pool_.tasks_.take()) pool_.work(*peer, worker);
  };
  try {
    while (threads_.size() < count) threads_.emplace_back(run, threads_.size());
  } catch (const std::system_error& failure) {
    pool.tasks_.end();
    throw std::system_error(failure.code(),
                            fmt::format("starting worker {} of {}", threads_.size() + 1, count));
  } catch (...) {
    pool.tasks_.end();
    throw;
  }
}

// Main thread.

template <typename Peer>
void PoolCore<Peer>::tell(Peer& peer, News news) {
  switch (news) {
    case News::established:
      return hand(peer, Holding::kEstablished | (this->draining() ? Holding::kStop : 0U));
    case News::deadline:
      peer.wakes_at.store(Time::max(), std::memory_order_relaxed);
      return hand(peer, Holding::kDeadline);
    case News::published:
      return hand(peer, Holding::kPublished);
    case News::stop:
      return hand(peer, Holding::kStop);
  }
}

template <typename Peer>
void PoolCore<Peer>::hand(Peer& peer, unsigned notes) {
  if (peer.holding.leave(notes)) batch_.push(peer);
}

template <typename Peer>
void PoolCore<Peer>::hand_over() {
  if (this->hosting().options.threads == 0) {
    while (Peer* peer = batch_.pop()) work(*peer, 0);
    return;
  }
  if (!batch_.empty()) tasks_.put(batch_);
}

template <typename Peer>
void PoolCore<Peer>::finish_turn() {
  hand_over();  // ready peers come before those with a deadline
  take_reports();
  this->fire_deadlines();
  this->pass_publications();
  passed_.store(this->passed_publications(), std::memory_order_relaxed);
  if (this->is_stopping() && !this->draining()) stop_by_and_by();
  do {
    hand_over();
    tasks_.wait_until_taken(kMostBusy);
    take_reports();
  } while (!batch_.empty());  // news of peers that have come back
  this->sweep();
}

// Handles what the workers have reported since the last call.
template <typename Peer>
void PoolCore<Peer>::take_reports() {
  Queue<Peer> back;
  std::unique_lock lock(mutex_);
  while (last_reported_ != nullptr) {
    Peer& peer = *last_reported_;
    last_reported_ = static_cast<Peer*>(peer.reported_before);
    peer.reported = false;
    peer.wakes_at.store(peer.reported_due, std::memory_order_relaxed);
    this->set_deadline(peer, peer.reported_due);
  }
  back.take_all(given_back_);
  lock.unlock();
  while (Peer* peer = back.pop()) take_back(*peer);
}

// Takes a peer back. The main thread is the holder now, and remains it if the connection has ended.
template <typename Peer>
void PoolCore<Peer>::take_back(Peer& peer) {
  if (!peer.live()) return this->leave(peer);
  const Time due = peer.connection->deadline().value_or(Time::max());
  if (due < peer.wakes_at.load(std::memory_order_relaxed)) {
    peer.wakes_at.store(due, std::memory_order_relaxed);
    this->set_deadline(peer, due);
  }
  this->guarded(peer, [&] { returned(peer); });
  if (!peer.leaving && !peer.holding.release()) batch_.push(peer);
}

// The holder: a worker, or without workers the main thread.

template <typename Peer>
void PoolCore<Peer>::work(Peer& peer, std::size_t worker) {
  do {
    if (!take_turn(peer, worker)) return give_back(peer);
  } while (!peer.holding.release());
}

// Returns false when the main thread is to have the peer: the connection has ended, or the engine wants it
// there.
template <typename Peer>
bool PoolCore<Peer>::take_turn(Peer& peer, std::size_t worker) {
  const Time now = Clock::now();
  const unsigned notes = peer.holding.take();
  try {
    if ((notes & Holding::kEstablished) != 0)
      open_session(this->hosting(), peer.socket.get(), peer.connection, now);
    StreamConnection& connection = *peer.connection;
    if ((notes & Holding::kPublished) != 0) connection.refresh(now);
    exchange(peer, notes, worker, now);  // input that has arrived comes before a deadline and before the stop
    if ((notes & Holding::kDeadline) != 0) connection.on_time(now);
    if ((notes & Holding::kStop) != 0 && may_tell_stop(peer)) connection.drain(now);
    if ((notes & (Holding::kDeadline | Holding::kStop)) != 0)
      exchange(peer, notes & Holding::kPublished, worker, now);
    if (connection.ended() || !rest(peer)) return false;
    const Time due = connection.deadline().value_or(Time::max());
    if (due < peer.wakes_at.load(std::memory_order_relaxed)) report(peer, due);
    return true;
  } catch (const std::exception& error) {
    fail(peer, failure_of(error), now);
    return false;
  }
}

template <typename Peer>
void PoolCore<Peer>::fail(Peer& peer, const Failure& failure, Time now) noexcept {
  try {
    if (peer.connection) return peer.connection->failed(failure, now);
    this->hosting().not_opened(failure, now);
  } catch (const std::exception&) {
    // The session threw again. The connection ends all the same, and has been counted.
  }
}

template <typename Peer>
bool PoolCore<Peer>::awaits_publications() const {
  return publications_ != nullptr && this->hosting().serves() &&
         publications_->count() != passed_.load(std::memory_order_relaxed);
}

// Reports a deadline that is earlier than the main thread knows.
template <typename Peer>
void PoolCore<Peer>::report(Peer& peer, Time due) {
  const bool wakes = this->hosting().options.threads > 0;
  {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(peer.reported, true)) {
      peer.reported_before = std::exchange(last_reported_, &peer);
    }
    peer.reported_due = due;
  }
  if (wakes) this->inbox().waker().wake();
}

// Gives the peer to the main thread. No other thread becomes the holder meanwhile.
template <typename Peer>
void PoolCore<Peer>::give_back(Peer& peer) {
  {
    const std::lock_guard lock(mutex_);
    given_back_.push(peer);
  }
  if (this->hosting().options.threads > 0) this->inbox().waker().wake();
}

}  // namespace joust
