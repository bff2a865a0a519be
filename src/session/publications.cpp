// SPDX-License-Identifier: MIT
#include <vector>

#include "joust/service.hpp"

namespace joust {

void Publications::announce() {
  count_.fetch_add(1, std::memory_order_acq_rel);
  const std::lock_guard lock(mutex_);
  for (Wakeable* loop : loops_) loop->wake();
}

void Publications::subscribe(Wakeable& loop) {
  const std::lock_guard lock(mutex_);
  loops_.push_back(&loop);
}

void Publications::unsubscribe(Wakeable& loop) {
  const std::lock_guard lock(mutex_);
  std::erase(loops_, &loop);
}

}  // namespace joust
