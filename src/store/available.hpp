// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace joust {

// How many bytes may still be taken, and which limit says so, for people: "the machine's memory".
struct Available {
  std::uint64_t bytes = UINT64_MAX;
  std::string limit{};
  bool in_memory = false;
};

// Where the kernel tells of memory and of control groups.
struct SystemFiles {
  std::string proc = "/proc";
  std::string cgroups = "/sys/fs/cgroup";
};

// The least of the machine's available memory, of the room in this process's control groups (from its own up
// to the root), and of the process's own limits (RLIMIT_AS, RLIMIT_FSIZE). A source that cannot be read sets
// no limit. The page cache of a group counts as available, as it does for the machine, because the kernel
// drops it when memory is needed. Reads a few small files.
Available available_memory(const SystemFiles& from = {});

// The free space of the file system in which `fd` lies, for unprivileged users. Where that is memory, it is
// no more than available_memory(), which is asked only if at least 1 MiB is wanted: asking takes longer than
// storing less. No limit where the system does not tell.
Available available_space(int fd, std::uint64_t wanted);

// "20.0 MiB are needed, but only 12.0 MiB are available (the machine's memory)".
std::string shortage(std::uint64_t needed, const Available& available);

}  // namespace joust
