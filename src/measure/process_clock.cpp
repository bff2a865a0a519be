// SPDX-License-Identifier: MIT
#include "measure/process_clock.hpp"

#include <optional>

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

std::optional<double> read_clock_s(clockid_t clock) {
  timespec used{};
  if (::clock_gettime(clock, &used) != 0) return std::nullopt;
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

}  // namespace

std::optional<double> cpu_time_s(pid_t process) {
  const auto clock = clock_of(process);
  return clock ? read_clock_s(*clock) : std::nullopt;
}

std::string why_processes_have_no_figures() {
#ifdef __linux__
  return {};
#else
  return "the CPU time and memory of other processes are read from /proc, which only Linux has";
#endif
}

ProcessClock::ProcessClock(std::span<const pid_t> processes) {
  for (const pid_t process : processes)
    if (const auto clock = clock_of(process)) processes_.push_back({*clock, 0});
}

double ProcessClock::read_s() {
  double sum_s = 0;
  for (Process& process : processes_) {
    process.last_s = read_clock_s(process.clock).value_or(process.last_s);
    sum_s += process.last_s;
  }
  return sum_s;
}

}  // namespace joust
