// SPDX-License-Identifier: MIT
#include "measure/clock_rate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/limits.hpp"
#include "measure/proc_file.hpp"

namespace joust {
namespace {

constexpr std::size_t kMostBytesRead = 16;

}  // namespace

ClockRates operator|(const ClockRates& one, const ClockRates& other) {
  return {.least_mhz = std::min(one.least_mhz, other.least_mhz),
          .most_mhz = std::max(one.most_mhz, other.most_mhz)};
}

std::optional<ClockRates> read_clock_rates(std::span<const int> cpus, const std::string& root) {
  std::optional<ClockRates> rates;
  for (const int cpu : cpus.first(std::min(cpus.size(), kMostBytesRead))) {
    const auto text =
        read_proc_file(fmt::format("{}sys/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", root, cpu));
    const double mhz = text ? static_cast<double>(leading_number(*text)) / 1e3 : 0;
    if (mhz <= 0) continue;
    const ClockRates one{.least_mhz = mhz, .most_mhz = mhz};
    rates = rates ? *rates | one : one;
  }
  return rates;
}

namespace {

void add_group(std::optional<Throttling>& sum, const std::string& folder) {
  const auto text = read_proc_file(folder + "cpu.stat");
  const auto times = text ? field_of(*text, "nr_throttled ") : std::nullopt;
  if (!times) return;
  if (!sum) sum.emplace();
  sum->times += leading_number(*times);
  if (const auto time_us = field_of(*text, "throttled_usec "))  // version 2
    sum->time_s += static_cast<double>(leading_number(*time_us)) / 1e6;
  else if (const auto time_ns = field_of(*text, "throttled_time "))  // version 1
    sum->time_s += static_cast<double>(leading_number(*time_ns)) / 1e9;
}

}  // namespace

Throttling operator+(const Throttling& one, const Throttling& other) {
  return {.times = one.times + other.times, .time_s = one.time_s + other.time_s};
}

Throttling operator-(const Throttling& later, const Throttling& earlier) {
  return {.times = later.times - std::min(later.times, earlier.times),
          .time_s = std::max(0.0, later.time_s - earlier.time_s)};
}

std::optional<Throttling> read_throttling(const std::string& root) {
  std::optional<Throttling> sum;
  for (const ControlGroup& group : control_groups(root + "proc", root + "sys/fs/cgroup", "cpu"))
    add_group(sum, group.folder);
  return sum;
}

}  // namespace joust
