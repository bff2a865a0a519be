// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "joust/time.hpp"

namespace joust {

// Calls a function periodically until it is destroyed, on a thread of its own that takes no signals. The
// first call is one interval after the beginning.
class Periodic {
 public:
  Periodic(Duration interval, std::function<void()> step);
  ~Periodic();
  Periodic(const Periodic&) = delete;
  Periodic& operator=(const Periodic&) = delete;

 private:
  void run();

  const Duration interval_;
  const std::function<void()> step_;
  std::mutex mutex_;
  std::condition_variable over_changed_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace joust
