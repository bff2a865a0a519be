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

// Notices that this process did not run for a while although time went on: a virtual machine or a container
// was held, a laptop slept, or somebody has stopped it. Whatever was measured meanwhile is no figure of a
// server. A thread of its own looks at the clock; the methods are for one other thread.
class PauseWatch {
 public:
  static constexpr Duration kBetweenLooks = std::chrono::milliseconds(250);

  PauseWatch();  // where no thread can be made, no pause is noticed

  // Returns the longest pause since the last call, or since the beginning. On a busy machine a thread waits
  // for a CPU, which is a pause too, of tenths of a second.
  Duration take();

 private:
  void watch(const std::stop_token& over);
  void look();  // under the lock

  std::mutex mutex_;
  std::condition_variable_any ended_;
  Duration longest_{};
  Time looked_ = Clock::now();
  std::jthread thread_;
};

}  // namespace joust
