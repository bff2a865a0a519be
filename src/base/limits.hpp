// SPDX-License-Identifier: MIT
#pragma once

#include <sys/resource.h>

#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/check.hpp"

namespace joust {

// Returns whether a call was refused with this errno because the machine is short of descriptors or of
// memory. Such a call may succeed later.
constexpr bool is_shortage(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

// Returns how many files this process may have open. Throws std::system_error.
inline rlimit descriptor_limit() {
  rlimit limit{};
  checked(::getrlimit(RLIMIT_NOFILE, &limit), "getrlimit(RLIMIT_NOFILE)");
  return limit;
}

// A control group and the place of its files in this process's view.
struct ControlGroup {
  std::string folder;  // folder of its files, with a slash at the end
  std::string name;    // its name in /proc: "/user.slice"
  int version;         // version of control groups: 1 or 2, which have different file names
};

// Returns the groups of this process that have the controller ("cpu", "memory"), and their ancestors up to
// the root, each before its parent: a group is limited by its own settings and by those of its ancestors. In
// a container the process's own group is often mounted as the root, while /proc names the group as on the
// host, so folders may not exist. `proc` and `cgroups` are the mount points of those file systems.
std::vector<ControlGroup> control_groups(const std::string& proc, const std::string& cgroups,
                                         const std::string& controller);

// The free space of a file system, for unprivileged users.
struct FileSystemRoom {
  std::uint64_t bytes;  // UINT64_MAX: the file system sets no limit
  bool in_memory;       // known only for file systems of Linux
};

// Returns the room of the file system that holds `fd`; nothing if the system does not report it.
std::optional<FileSystemRoom> file_system_room(int fd);

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

// Returns the limits of this process, user or control group that a call may have reached which was refused
// with this errno, as text to append to the error: " (ulimit -u: this user may have 30 processes and
// threads)". Empty where no limit is known. EAGAIN is treated as the refusal of a process or a thread.
std::string limit_behind(int error);

}  // namespace joust
