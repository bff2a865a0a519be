// SPDX-License-Identifier: MIT
#include "measure/throttling.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>

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

// A group is throttled by its own quota and by those of its ancestors. In a container the own group is often
// mounted as the root, while /proc names the group as on the host: folders that do not exist here are
// skipped.
void add_groups(std::optional<Throttling>& sum, const std::string& mount, std::string group) {
  while (!group.empty()) {
    add_group(sum, mount + group + "/");
    group.resize(group.find_last_of('/'));
  }
  add_group(sum, mount + "/");
}

bool names_cpu(const std::string& controllers) {
  std::istringstream list(controllers);
  for (std::string one; std::getline(list, one, ',');)
    if (one == "cpu") return true;
  return false;
}

}  // namespace

Throttling operator-(const Throttling& later, const Throttling& earlier) {
  return {.times = later.times - std::min(later.times, earlier.times),
          .time_s = std::max(0.0, later.time_s - earlier.time_s)};
}

// Lines such as "0::/user.slice" (version 2) and "4:cpu,cpuacct:/docker/1f" (version 1).
std::optional<Throttling> read_throttling(const std::string& root) {
  const std::string groups = root + "sys/fs/cgroup";
  std::optional<Throttling> sum;
  std::istringstream lines(read_proc_file(root + "proc/self/cgroup").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string group = line.substr(second + 1);
    // the root, or a group outside of this process's namespace
    if (!group.starts_with('/') || group == "/" || group.contains("/..")) group.clear();
    if (controllers.empty())
      add_groups(sum, groups, group);
    else if (names_cpu(controllers))
      add_groups(sum, groups + "/cpu", group);
  }
  return sum;
}

}  // namespace joust
