// SPDX-License-Identifier: MIT
#pragma once

#include "load/run.hpp"
#include "measure/usage.hpp"

namespace joust {

// Lets another process conduct the turns of a load. SIGUSR1 begins a turn: its value (sigqueue(3)) is the
// turn's length in microseconds, or of counted turns the number of messages of each connection; the sign is
// negative where the turn is not recorded. At the end of each turn one JSON line on the standard output tells
// what has been counted so far. One at a time in a process.
class TurnTaking {
 public:
  explicit TurnTaking(LoadRun& run);
  ~TurnTaking();
  TurnTaking(const TurnTaking&) = delete;
  TurnTaking& operator=(const TurnTaking&) = delete;

  // What SIGUSR1 calls. Async-signal-safe. Ignores a turn before the end of the one before it.
  static void begin(int value) noexcept;

  // Called at the milestone `rested`, on the thread that reached it.
  void end();

  // In all turns, without the time between them. After the run.
  Usage used() const { return used_; }
  Duration used_over() const { return used_over_; }

 private:
  LoadRun& run_;
  Time began_{};  // the turn
  Usage before_{};
  Usage used_{};
  Duration used_over_{};
};

}  // namespace joust
