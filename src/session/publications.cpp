// SPDX-License-Identifier: MIT
#include <vector>

#include "joust/service.hpp"

namespace joust {

// Increments the count and wakes the loops. A signal handler must not wait for a lock that the interrupted
// code may hold. So no caller waits here: a caller that finds the list locked sets a flag, and the holder of
// the lock checks the flag afterwards. (The standard leaves try_lock() of a mutex that the thread itself
// holds undefined; with POSIX threads it fails.)
void Publications::announce() {
  count_.fetch_add(1, std::memory_order_acq_rel);
  unheard_.store(true);
  wake_all();
}

void Publications::wake_all() {
  while (unheard_.load()) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return;
    if (!unheard_.exchange(false)) continue;
    for (Wakeable* loop : loops_) loop->wake();
  }
}

void Publications::subscribe(Wakeable& loop) {
  {
    const std::lock_guard lock(mutex_);
    loops_.push_back(&loop);
  }
  wake_all();
}

void Publications::unsubscribe(Wakeable& loop) {
  {
    const std::lock_guard lock(mutex_);
    std::erase(loops_, &loop);
  }
  wake_all();
}

}  // namespace joust
