// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <mutex>

#include "joust/time.hpp"

namespace joust {

// Lets one thread sleep until another one wakes it. It has a mutex of its own, so set() never waits for a
// thread that works.
class WakeFlag {
 public:
  // Any thread. Without a sleeper, the next sleep ends at once.
  void set() {
    {
      const std::lock_guard lock(mutex_);
      set_ = true;
    }
    changed_.notify_one();
  }

  // Sleeps until the flag is set, and clears it; false if that has not happened by `until`.
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
