// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>

#include "base/system/events.hpp"
#include "joust/service.hpp"

namespace joust {

// Wakes a loop that waits for fd() to become readable. Several wakes before the loop's next look count as
// one.
class Waker : public Wakeable {
 public:
  void wake() override;
  void clear();  // call in the loop, before it looks for work: later work wakes it again
  int fd() const { return event_.fd(); }

 private:
  EventDescriptor event_;
  std::atomic<bool> pending_{false};
};

}  // namespace joust
