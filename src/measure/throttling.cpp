// SPDX-License-Identifier: MIT
#include "measure/throttling.hpp"

#include <algorithm>

#include "base/limits.hpp"
#include "measure/proc_file.hpp"

namespace joust {
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
