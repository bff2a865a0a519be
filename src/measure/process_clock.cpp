// SPDX-License-Identifier: MIT
#include "measure/process_clock.hpp"

#include <optional>

#include "measure/usage.hpp"

namespace joust {
namespace {

#ifndef __APPLE__
std::optional<clockid_t> clock_of(pid_t process) {
  clockid_t clock{};
  if (::clock_getcpuclockid(process, &clock) != 0) return std::nullopt;
  return clock;
}
#else
std::optional<clockid_t> clock_of(pid_t /*process*/) {
  return std::nullopt;
}
#endif

}  // namespace

std::string why_processes_have_no_figures() {
#ifdef __linux__
  return {};
#else
  return "the CPU time and memory of other processes are read from /proc, which only Linux has";
#endif
}

ProcessClock::ProcessClock(pid_t root) {
  for (const pid_t process : process_tree(root))
    if (const auto clock = clock_of(process)) processes_.push_back({*clock, 0});
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
