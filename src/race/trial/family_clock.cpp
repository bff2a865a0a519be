// SPDX-License-Identifier: MIT
#include "race/trial/family_clock.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <string_view>
#include <utility>

#include "measure/proc_file.hpp"
#include "measure/process_clock.hpp"

namespace joust::race {
namespace {

constexpr double kMostLost = 0.03;  // of the sum

// Each process that has waited for others counts their user and system time in whole ticks.
double resolution_s(std::size_t processes) {
  static const double tick_s = 1 / static_cast<double>(::sysconf(_SC_CLK_TCK));
  return 2 * tick_s * static_cast<double>(processes + 1);
}

}  // namespace

double FamilyClock::read_s(std::span<const pid_t> processes, double ended_s) {
  std::map<pid_t, double> now_s;
  for (const pid_t process : processes) {
    const auto before = last_s_.find(process);
    const double before_s = before == last_s_.end() ? 0 : before->second;
    const double here_s = cpu_time_s(process).value_or(before_s);
    if (here_s < before_s) gone_s_ += before_s;  // another process has its number
    now_s.emplace(process, here_s);
  }
  for (const auto& [process, used_s] : last_s_)
    if (!now_s.contains(process)) gone_s_ += used_s;
  last_s_ = std::move(now_s);
  ended_s_ = ended_s;
  sum_s_ = ended_s;
  for (const auto& [process, used_s] : last_s_) sum_s_ += used_s;
  return sum_s_;
}

std::string FamilyClock::why_wrong() const {
  const double lost_s = gone_s_ - ended_s_;
  if (lost_s <= std::max(kMostLost * (sum_s_ + lost_s), resolution_s(last_s_.size()))) return {};
  return fmt::format(
      "at least {:.3g} s of {:.3g} s of its CPU time are lost, as no process waited for processes that ended",
      lost_s, sum_s_ + lost_s);
}

bool ignores_ends(std::span<const pid_t> processes) {
  constexpr unsigned long long kChildEnds = 1ULL << (SIGCHLD - 1);
  return std::ranges::any_of(processes, [](pid_t process) {
    const std::string status = read_proc_file(fmt::format("/proc/{}/status", process)).value_or("");
    const std::string_view ignored = field_of(status, "SigIgn:").value_or("");
    unsigned long long signals = 0;
    std::from_chars(ignored.data(), ignored.data() + ignored.size(), signals, 16);
    return (signals & kChildEnds) != 0;
  });
}

}  // namespace joust::race
