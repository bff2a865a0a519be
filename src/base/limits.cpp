// SPDX-License-Identifier: MIT
#include "base/limits.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <vector>

#include "base/text.hpp"
#include "base/units.hpp"

#ifdef __linux__
#include <linux/magic.h>
#include <sys/statfs.h>
#else
#include <sys/statvfs.h>
#endif

namespace joust {
namespace {

bool lists(const std::string& controllers, const std::string& name) {
  std::istringstream list(controllers);
  for (std::string one; std::getline(list, one, ',');)
    if (one == name) return true;
  return false;
}

}  // namespace

// Reads lines such as "0::/user.slice" (version 2) and "4:cpu,memory:/docker/1f" (version 1).
std::vector<ControlGroup> control_groups(const std::string& proc, const std::string& cgroups,
                                         const std::string& controller) {
  std::vector<ControlGroup> groups;
  std::ifstream file(proc + "/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const int version = controllers.empty() ? 2 : 1;
    if (version == 1 && !lists(controllers, controller)) continue;
    const std::string mount = version == 2 ? cgroups : cgroups + "/" + controller;
    std::string group = line.substr(second + 1);
    // Skips the root, or a group outside of this process's namespace.
    if (!group.starts_with('/') || group == "/" || group.contains("/..")) group.clear();
    for (; !group.empty(); group.resize(group.find_last_of('/')))
      groups.push_back({mount + group + "/", group, version});
    groups.push_back({mount + "/", "/", version});
  }
  return groups;
}

#ifdef __linux__

std::optional<FileSystemRoom> file_system_room(int fd) {
  struct statfs facts {};
  if (::fstatfs(fd, &facts) != 0) return std::nullopt;
  const bool in_memory = facts.f_type == TMPFS_MAGIC || facts.f_type == RAMFS_MAGIC;
  // A memory file system without a size, as for anonymous files, reports 0 blocks.
  if (in_memory && facts.f_blocks == 0) return FileSystemRoom{UINT64_MAX, true};
  return FileSystemRoom{facts.f_bavail * static_cast<std::uint64_t>(facts.f_frsize), in_memory};
}

#else

std::optional<FileSystemRoom> file_system_room(int fd) {
  struct statvfs facts {};
  if (::fstatvfs(fd, &facts) != 0) return std::nullopt;
  return FileSystemRoom{facts.f_bavail * std::uint64_t{facts.f_frsize}, false};
}

#endif

namespace {

constexpr std::uint64_t kWorthALook = 1 << 20;

// Returns the number in a file; nothing if the file does not exist, or if it says "max".
std::optional<std::uint64_t> number_in(const std::string& path) {
  std::uint64_t number = 0;
  if (std::ifstream file(path); file >> number) return number;
  return std::nullopt;
}

// Returns the number after a word, in lines such as "MemAvailable:  24105 kB" and "inactive_file 4096".
std::optional<std::uint64_t> entry_of(const std::string& path, const std::string& word) {
  std::ifstream file(path);
  std::string key;
  for (std::uint64_t number = 0; file >> key;) {
    if (key == word && file >> number) return number;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::nullopt;
}

// The file names of one version of control groups.
struct Names {
  const char* limit;
  const char* used;
  const char* inactive_cache;
  const char* active_cache;
};
constexpr Names kVersion2{"memory.max", "memory.current", "inactive_file", "active_file"};
constexpr Names kVersion1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file",
                          "total_active_file"};

void lower(Available& available, std::uint64_t bytes, const std::string& limit) {
  if (bytes < available.bytes) available = {bytes, limit, true};
}

std::uint64_t difference(std::uint64_t from, std::uint64_t what) {
  return from - std::min(from, what);
}

void apply_group(Available& available, const ControlGroup& group) {
  const Names& names = group.version == 2 ? kVersion2 : kVersion1;
  const auto limit = number_in(group.folder + names.limit);
  const auto used = number_in(group.folder + names.used);
  if (!limit || !used) return;
  const std::string facts = group.folder + "memory.stat";
  const std::uint64_t cache =
      entry_of(facts, names.inactive_cache).value_or(0) + entry_of(facts, names.active_cache).value_or(0);
  lower(available, difference(*limit, difference(*used, cache)),
        "the memory limit of control group " + group.name);
}

std::uint64_t page_bytes() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

void apply_process_limits(Available& available, const SystemFiles& from) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    lower(available, limit.rlim_cur, "RLIMIT_FSIZE, the largest file of this process");
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  const auto pages = number_in(from.proc + "/self/statm");
  const std::uint64_t used = pages.value_or(0) * page_bytes();
  lower(available, difference(limit.rlim_cur, used), "RLIMIT_AS, the address space of this process");
}

}  // namespace

Available available_memory(const SystemFiles& from) {
  Available available{.in_memory = true};
  if (const auto kib = entry_of(from.proc + "/meminfo", "MemAvailable:"))
    lower(available, *kib << 10, "the machine's memory");
#ifndef __linux__  // how much is in use differs from system to system
  lower(available, static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * page_bytes(),
        "the machine's memory");
#endif
  for (const ControlGroup& group : control_groups(from.proc, from.cgroups, "memory"))
    apply_group(available, group);
  apply_process_limits(available, from);
  return available;
}

Available available_space(int fd, std::uint64_t wanted) {
  const auto room = file_system_room(fd);
  if (!room) return {};
  Available available{room->bytes, "the file system", room->in_memory};
  if (!available.in_memory) return available;
  if (wanted < kWorthALook) return available;
  const Available memory = available_memory();
  return memory.bytes < available.bytes ? memory : available;
}

std::string shortage(std::uint64_t needed, const Available& available) {
  return fmt::format("{} are needed, but only {} are available ({})",
                     format_bytes(static_cast<double>(needed)),
                     format_bytes(static_cast<double>(available.bytes)), available.limit);
}

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
