// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>

#include "base/system/event.hpp"
#include "joust/service.hpp"

namespace joust {

// Rouses a loop that waits for fd() to become readable. Wakes that come before the loop has looked are one.
class Waker : public Wakeable {
 public:
  void wake() override;
  void clear();  // the loop's: what it looks for after this, it will not miss
  int fd() const { return event_.fd(); }

 private:
  EventDescriptor event_;
  std::atomic<bool> pending_{false};
};

}  // namespace joust
