// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <csignal>

#include "net/stop.hpp"

namespace joust {

// While it lives, SIGINT, SIGTERM and SIGHUP (a closed terminal) ask `stop` to end; SIGUSR1 calls `report`,
// which must be async-signal-safe, with the value that sigqueue(3) has sent, or 0. A SIGHUP that is ignored
// from the start, as nohup(1) has it, stays ignored. If a signal has come, all of these are ignored after its
// end: the program is about to end, and another one would take the result or the exit code. One at a time in
// a process. A message that takes long to compute may keep an engine from hearing of the second request: with
// Second::ends the process leaves with 1 if it is still there 3 s later. By handlers, not by a thread that
// waits for signals: once a process has had a second thread, glibc makes each recv and send a cancellation
// point with two atomic operations, and an engine with one thread would pay for a thread it does not have.
class Signals {
 public:
  enum class Second : unsigned char { asks, ends };
  explicit Signals(Stop& stop, void (*report)(int value) = nullptr, Second second = Second::asks);
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  static constexpr std::array kWatched{SIGINT, SIGTERM, SIGHUP, SIGUSR1};
  std::array<struct sigaction, kWatched.size()> before_{};
  struct sigaction before_alarm_ {};
};

}  // namespace joust
