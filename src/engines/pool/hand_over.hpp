// SPDX-License-Identifier: MIT
#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <utility>

#include "engines/loop/queue.hpp"
#include "engines/loop/waiting.hpp"
#include "joust/time.hpp"

namespace joust {

// Decides which thread may use a peer's connection: the peer's holder. The main thread leaves notes at any
// time. If it leaves a note for a peer without a holder, it becomes the holder, and hands the peer to a
// worker. A worker that has done its work releases the peer, unless new notes have come. So every note is
// read, by one worker at a time, and all that one holder has written is visible to the next.
class Holding {
 public:
  enum Note : unsigned {
    kEstablished = 1,  // make the session
    kDeadline = 2,
    kPublished = 4,
    kStop = 8,
    kEvents = 1 << 5,  // bits from here on belong to the engine
  };

  // Called by the main thread. Returns true if the peer had no holder: the caller must then hand it over.
  bool leave(unsigned notes) {
    return (state_.fetch_or(notes | kHeld, std::memory_order_acq_rel) & kHeld) == 0;
  }

  // Called by the holder. take() returns the new notes; release() returns false if more have come.
  unsigned take() { return state_.exchange(kHeld, std::memory_order_acq_rel) & ~kHeld; }
  bool release() {
    unsigned expected = kHeld;
    return state_.compare_exchange_strong(expected, 0, std::memory_order_acq_rel, std::memory_order_relaxed);
  }

 private:
  static constexpr unsigned kHeld = 1 << 4;
  std::atomic<unsigned> state_{0};
};

// The peers that wait for a worker. The main thread hands over those of a whole turn with one lock, and wakes
// only workers that sleep. A worker takes one at a time: in a batch of its own, peers would wait for a slow
// one while another worker is idle.
template <typename Peer>
class TaskQueue {
 public:
  explicit TaskQueue(Wait wait) : wait_(wait) {}

  // Called by the main thread: empties `batch`.
  void put(Queue<Peer>& batch) {
    std::size_t sleepers = 0;
    {
      const std::lock_guard lock(mutex_);
      while (Peer* peer = batch.pop()) {
        queue_.push(*peer);
        ++size_;
      }
      sleepers = std::min(size_.load(), asleep_);
    }
    for (; sleepers > 0; --sleepers) filled_.notify_one();
  }

  // Called by a worker: returns the next peer; null at the end. A worker that spins checks without the lock,
  // for which others would have to sleep. It leaves its core to other threads, because more threads may spin
  // than cores exist.
  Peer* take() {
    std::optional<Time> idle_since;
    for (;;) {
      if (size_ == 0 && !ended_ && spins(idle_since)) {
        ::sched_yield();
        continue;
      }
      std::unique_lock lock(mutex_);
      if (size_ == 0 && !ended_ && !spins(idle_since)) await_work(lock);
      if (ended_) return nullptr;
      if (Peer* const peer = queue_.pop()) {
        const bool emptied = --size_ == 0 && std::exchange(main_waits_, false);
        lock.unlock();
        if (emptied) emptied_.notify_one();
        return peer;
      }
    }
  }

  // Called by the main thread: waits until all peers are taken. Events that occur meanwhile come in one
  // batch, instead of one wake-up for each peer. Waits no longer than `most`, because all workers may be busy
  // for long.
  void wait_until_taken(Duration most) {
    std::unique_lock lock(mutex_);
    if (size_ == 0) return;
    main_waits_ = true;
    emptied_.wait_for(lock, most, [this] { return !main_waits_; });
    main_waits_ = false;
  }

  void end() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    filled_.notify_all();
  }

 private:
  bool spins(std::optional<Time>& idle_since) const {
    if (wait_ == Wait::block) return false;
    const Time now = Clock::now();
    if (!idle_since) idle_since = now;
    WaitStrategy wait_strategy(wait_);
    wait_strategy.found_work(*idle_since);
    return wait_strategy.next_wait({}, now) == Duration::zero();
  }
  void await_work(std::unique_lock<std::mutex>& lock) {
    ++asleep_;
    filled_.wait(lock, [this] { return size_ > 0 || ended_; });
    --asleep_;
  }

  const Wait wait_;
  std::mutex mutex_;
  std::condition_variable filled_, emptied_;
  Queue<Peer> queue_;
  std::size_t asleep_ = 0;  // workers that sleep
  bool main_waits_ = false;
  // Written only with the lock held.
  std::atomic<std::size_t> size_{0};
  std::atomic<bool> ended_{false};
};

}  // namespace joust
