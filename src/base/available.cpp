// SPDX-License-Identifier: MIT
#include "base/available.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>

#include "base/control_groups.hpp"
#include "base/file_system_room.hpp"
#include "base/units.hpp"

namespace joust {
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

}  // namespace joust
