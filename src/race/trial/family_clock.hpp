// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <span>
#include <string>

namespace joust::race {

// The CPU time of a program with all processes that it starts, however late. One thread.
class FamilyClock {
 public:
  // Reads the clocks of the processes that exist now. `ended_s`: the CPU time that the kernel has kept of
  // those that have ended (Child::ended_cpu_s()). Returns the sum, in seconds since the program began.
  double read_s(std::span<const pid_t> processes, double ended_s);

  // Says why the sum is too small; empty if it is not known to be. The processes that were seen and are gone
  // must have left their CPU time to a parent that has waited for them. Where a parent ignores their end
  // (SIGCHLD), the kernel keeps none of it. The sum counts as right within 3 %, and within the kernel's
  // ticks.
  std::string why_wrong() const;

 private:
  std::map<pid_t, double> last_s_;  // of the processes at the last reading
  double gone_s_ = 0;               // what the processes that are gone had used when they were read last
  double ended_s_ = 0, sum_s_ = 0;
};

// Returns whether one of these processes ignores the end of its children (SIGCHLD), so that the CPU time of
// children that have ended is lost.
bool ignores_ends(std::span<const pid_t> processes);

}  // namespace joust::race
