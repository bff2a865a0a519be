// SPDX-License-Identifier: MIT
#include <vector>

#include "joust/service.hpp"

namespace joust {

// A signal handler must not wait for a lock that the code it interrupts may hold. So nobody waits here: a
// caller that finds the list locked leaves a note, and the holder of the lock looks for it afterwards. (The
// standard leaves try_lock() of a mutex that the thread itself holds undefined; where threads are POSIX's it
// fails.)
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
