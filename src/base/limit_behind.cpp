// SPDX-License-Identifier: MIT
#include "base/limit_behind.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <optional>
#include <vector>

#include "base/control_groups.hpp"
#include "base/words.hpp"

namespace joust {
namespace {

std::optional<std::uint64_t> limit_of(decltype(RLIMIT_NOFILE) resource) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

// Returns the least limit of the groups. The word "max" is no number, and no limit.
std::optional<std::uint64_t> most_processes_of_groups() {
  std::optional<std::uint64_t> least;
  for (const ControlGroup& group : control_groups("/proc", "/sys/fs/cgroup", "pids")) {
    std::uint64_t most = 0;
    if (std::ifstream(group.folder + "pids.max") >> most) least = std::min(least.value_or(most), most);
  }
  return least;
}

}  // namespace

std::string limit_behind(int error) {
  std::vector<std::string> limits;
  if (error == EAGAIN) {
    if (const auto most = limit_of(RLIMIT_NPROC))
      limits.push_back(fmt::format("ulimit -u: this user may have {} processes and threads", *most));
    if (const auto most = most_processes_of_groups())
      limits.push_back(fmt::format("pids.max: this control group may have {} processes and threads", *most));
  }
  if (const auto most = limit_of(RLIMIT_NOFILE); error == EMFILE && most)
    limits.push_back(fmt::format("ulimit -n: this process may have {} open files", *most));
  if (const auto most = limit_of(RLIMIT_AS); error == ENOMEM && most)
    limits.push_back(fmt::format("ulimit -v: this process may have {} KiB of address space", *most >> 10));
  return limits.empty() ? "" : fmt::format(" ({})", join(limits, "; "));
}

}  // namespace joust
