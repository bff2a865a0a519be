// SPDX-License-Identifier: MIT
#include "net/stop.hpp"

namespace joust {

void Stop::request() {
  const int before = level_->fetch_add(1, std::memory_order_acq_rel);
  event_.raise();
  if (before > 0) again_.raise();
}

void Waker::wake() {
  if (!pending_.exchange(true, std::memory_order_acq_rel)) event_.raise();
}

void Waker::clear() {
  event_.clear();
  pending_.exchange(false, std::memory_order_acq_rel);
}

}  // namespace joust
