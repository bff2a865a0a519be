// SPDX-License-Identifier: MIT
#include "base/file_system_room.hpp"

#ifdef __linux__
#include <linux/magic.h>
#include <sys/statfs.h>
#else
#include <sys/statvfs.h>
#endif

namespace joust {

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

}  // namespace joust
