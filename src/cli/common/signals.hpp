// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <thread>

#include "net/stop.hpp"

namespace joust {

// While it lives, SIGINT, SIGTERM and SIGHUP (a closed terminal) ask `stop` to end; SIGUSR1 calls `report`
// on a thread of its own. Made before any other thread, so that all of them inherit the blocked signals and
// none is interrupted by one.
class Signals {
 public:
  explicit Signals(Stop& stop, std::function<void()> report = {});
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  void watch(Stop& stop, const std::function<void()>& report);

  Stop over_;
  std::thread thread_;
};

}  // namespace joust
