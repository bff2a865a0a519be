// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <ctime>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace joust {

// The CPU time of other processes, read from outside to the nanosecond (clock_getcpuclockid(3)): the
// processes need not help, and may be stopped. One thread.
class ProcessClock {
 public:
  ProcessClock() = default;  // of no process: always 0
  explicit ProcessClock(std::span<const pid_t> processes);

  // In seconds since the processes began. Of one that has ended, the time that was read last.
  double read_s();

 private:
  struct Process {
    clockid_t clock;
    double last_s;
  };
  std::vector<Process> processes_;
};

// The CPU time of one process so far, in seconds; nothing when there is no such process.
std::optional<double> cpu_time_s(pid_t process);

// Why the figures of other processes (this clock, and those of usage.hpp) cannot be read on this system, so
// that there can be no race; empty where they can.
std::string why_processes_have_no_figures();

}  // namespace joust
