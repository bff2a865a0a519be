// SPDX-License-Identifier: MIT
#pragma once

#include "load/run.hpp"
#include "measure/usage.hpp"

namespace joust {

// Lets another process conduct the turns of a load. SIGUSR1 begins a turn. Its value (sigqueue(3)) is the
// turn's length in microseconds, or for counted turns the number of messages of each connection. The value is
// negative if the turn is not recorded. At the end of each turn one JSON line on the standard output reports
// the counts so far. One at a time in a process.
class TurnTaking {
 public:
  // `ramp`: the begin of each turn that is not recorded, at most the share kRampShare; 0: that share.
  TurnTaking(LoadRun& run, Duration ramp);
  ~TurnTaking();
  TurnTaking(const TurnTaking&) = delete;
  TurnTaking& operator=(const TurnTaking&) = delete;

  // Begins a turn; the handler of SIGUSR1. Async-signal-safe. Ignores a turn before the end of the previous
  // one.
  static void begin(int value) noexcept;

  // Called at the milestone `rested`, on the thread that reached it.
  void end();

  // Return the usage and the length of all turns, without the time between them. Call after the run.
  Usage used() const { return used_; }
  Duration used_over() const { return used_over_; }

 private:
  Duration ramp_of(Duration length) const;

  LoadRun& run_;
  const Duration ramp_;
  Time began_{};  // begin of the turn
  Usage before_{};
  Usage used_{};
  Duration used_over_{};
};

}  // namespace joust
