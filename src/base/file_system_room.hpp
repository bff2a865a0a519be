// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

namespace joust {

// The free space of a file system, for unprivileged users.
struct FileSystemRoom {
  std::uint64_t bytes;  // UINT64_MAX: the file system sets no limit
  bool in_memory;       // known only for file systems of Linux
};

// Returns the room of the file system that holds `fd`; nothing if the system does not report it.
std::optional<FileSystemRoom> file_system_room(int fd);

}  // namespace joust
