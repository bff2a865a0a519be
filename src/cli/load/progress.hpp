// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include "base/fd.hpp"
#include "load/run.hpp"

namespace joust {

// Writes a line to standard error for each interval of the timed window: the time, the messages a second, two
// percentiles and the errors of that interval. A process of its own reads the counts that the connections
// keep in any case, so they have no extra work. A thread could do the same. But once a process has had a
// second thread, glibc makes each recv and send a cancellation point (see Signals): in an engine with one
// thread a message would cost 1.6 % more.
class LoadProgress {
 public:
  // Starts the process. Call after expect_threads() and before the first thread. If no process can be forked,
  // no lines are written.
  LoadProgress(LoadRun& run, Duration every);
  // Ends the process. Call after the run. Returns when the last line is written: that of the last interval,
  // if it was a whole one.
  ~LoadProgress();
  LoadProgress(const LoadProgress&) = delete;
  LoadProgress& operator=(const LoadProgress&) = delete;

  // Reports that the window is open. Called once, on the engine's own thread.
  void begin() const { tell(run_.opens().value_or(Clock::now())); }

 private:
  void tell(Time time) const;

  const LoadRun& run_;
  pid_t process_ = -1;
  Fd into_;  // reports the window's opening, and its end, to the process
};

}  // namespace joust
