// SPDX-License-Identifier: MIT
#include "measure/process_clock.hpp"

#include "measure/usage.hpp"

namespace joust {

ProcessClock::ProcessClock(pid_t root) {
  for (const pid_t process : process_tree(root)) {
    clockid_t clock = 0;
    if (::clock_getcpuclockid(process, &clock) == 0) processes_.push_back({clock, 0});
  }
}

double ProcessClock::read_s() {
  double sum_s = 0;
  for (Process& process : processes_) {
    timespec used{};
    if (::clock_gettime(process.clock, &used) == 0)
      process.last_s = static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
    sum_s += process.last_s;
  }
  return sum_s;
}

}  // namespace joust
