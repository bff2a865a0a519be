// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <ctime>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace joust {

// The CPU time of other processes, read from outside to the nanosecond (clock_getcpuclockid(3)). The
// processes need not cooperate, and may be stopped. One thread.
class ProcessClock {
 public:
  ProcessClock() = default;  // without a process: always 0
  explicit ProcessClock(std::span<const pid_t> processes);

  // Returns the seconds since the processes began. A process that has ended counts with the time that was
  // read last.
  double read_s();

 private:
  struct Process {
    clockid_t clock;
    double last_s;
  };
  std::vector<Process> processes_;
};

// Returns the CPU time of one process so far, in seconds; nothing if no such process exists.
std::optional<double> cpu_time_s(pid_t process);

// Returns why the figures of other processes (of this clock and of usage.hpp) cannot be read on this system,
// so that no race is possible. Empty where they can be read.
std::string why_processes_have_no_figures();

}  // namespace joust
