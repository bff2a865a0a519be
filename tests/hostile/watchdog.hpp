// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "joust/time.hpp"

namespace joust::hostile {

// Ends the program when a phase of a run lasts longer than any phase can on a busy machine, and says which
// run and which phase. An engine that hangs cannot be ended in any other way.
class Watchdog {
 public:
  explicit Watchdog(std::string run);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  void phase(std::string name);

 private:
  void watch();

  const std::string run_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string phase_ = "begin";
  Time until_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace joust::hostile
