// SPDX-License-Identifier: MIT
#pragma once

#include <unistd.h>

#include <cerrno>

namespace joust {

// Writes the whole file system of the open file to the disk. Returns 0, or -1 with the errno: ENOSYS where
// the system cannot do that for a single file system.
inline int sync_file_system(int fd) {
#ifdef __linux__
  return ::syncfs(fd);
#else
  static_cast<void>(fd);
  errno = ENOSYS;
  return -1;
#endif
}

}  // namespace joust
