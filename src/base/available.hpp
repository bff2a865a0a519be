// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace joust {

// The bytes that may still be used, and the limit that determines them, as text: "the machine's memory".
struct Available {
  std::uint64_t bytes = UINT64_MAX;
  std::string limit{};
  bool in_memory = false;
};

// The kernel's files about memory and control groups.
struct SystemFiles {
  std::string proc = "/proc";
  std::string cgroups = "/sys/fs/cgroup";
};

// Returns the least of the machine's available memory, the room in this process's control groups (from its
// own up to the root), and the process's own limits (RLIMIT_AS, RLIMIT_FSIZE). A source that cannot be read
// sets no limit. The page cache of a group counts as available, as it does for the machine, because the
// kernel frees it when memory is needed. Reads a few small files.
Available available_memory(const SystemFiles& from = {});

// Returns the free space, for unprivileged users, of the file system that holds `fd`. In a memory file system
// it is at most available_memory(). This is checked only if at least 1 MiB is wanted, because checking takes
// longer than storing less. No limit if the system does not report one.
Available available_space(int fd, std::uint64_t wanted);

// Describes a shortage: "20.0 MiB are needed, but only 12.0 MiB are available (the machine's memory)".
std::string shortage(std::uint64_t needed, const Available& available);

}  // namespace joust
