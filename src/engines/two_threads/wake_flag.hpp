// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <mutex>

#include "joust/time.hpp"

namespace joust {

// Lets one thread sleep until another one wakes it. It has a mutex of its own, so set() never waits for a
// working thread.
class WakeFlag {
 public:
  // Wakes the sleeper. If no thread sleeps, the next sleep ends at once. Any thread.
  void set() {
    {
      const std::lock_guard lock(mutex_);
      set_ = true;
    }
    changed_.notify_one();
  }

  // Sleeps until the flag is set, and clears it. Returns false if the flag was not set by `until`.
  bool wait_until(Time until) {
    std::unique_lock lock(mutex_);
    const bool woken = changed_.wait_until(lock, until, [this] { return set_; });
    set_ = false;
    return woken;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool set_ = false;
};

}  // namespace joust
