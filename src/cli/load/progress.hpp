// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include "base/fd.hpp"
#include "load/run.hpp"

namespace joust {

// A line on standard error for each interval of the timed window: the time, the messages a second, two
// percentiles and the errors of that interval. A process of its own reads what the connections count in any
// case, so they do nothing for it. A thread would do the same, but once a process has had a second one, glibc
// makes each recv and send a cancellation point (see Signals): of an engine with one thread a message would
// cost 1.6 % more.
class LoadProgress {
 public:
  // After expect_threads() and before the first thread. Where no process can be forked, there are no lines.
  LoadProgress(LoadRun& run, Duration every);
  // After the run. Returns when the last line is written: of the last interval, if it was a whole one.
  ~LoadProgress();
  LoadProgress(const LoadProgress&) = delete;
  LoadProgress& operator=(const LoadProgress&) = delete;

  // The window is open. Called once, on the engine's own thread.
  void begin() const { tell(run_.opens().value_or(Clock::now())); }

 private:
  void tell(Time time) const;

  const LoadRun& run_;
  pid_t process_ = -1;
  Fd into_;  // the process is told when the window opens, and when it has ended
};

}  // namespace joust
