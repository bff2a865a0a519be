// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <csignal>

#include "net/stop.hpp"

namespace joust {

// While it exists, SIGINT, SIGTERM and SIGHUP (a closed terminal) request a stop of `stop`. SIGUSR1 calls
// `report`, which must be async-signal-safe, with the value that sigqueue(3) has sent, or 0. A SIGHUP that is
// ignored from the start, as by nohup(1), stays ignored. If a stop was requested, all of these signals are
// ignored after this object's end: the program is about to end, and another signal would take the result or
// the exit code. One object at a time in a process. A message that takes long to compute may keep an engine
// from detecting the second request: with Second::ends the process exits with 1 if it still runs 3 s later.
// Handlers are used, not a thread that waits for signals: once a process has had a second thread, glibc makes
// each recv and send a cancellation point with two atomic operations. An engine with one thread would pay for
// a thread that it does not have.
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
