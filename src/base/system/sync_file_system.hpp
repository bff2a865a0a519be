// SPDX-License-Identifier: MIT
#pragma once

#include <unistd.h>

#include <cerrno>

namespace joust {

// Puts all of the file system that the open file is on onto the disk. Returns 0, or -1 with the errno: ENOSYS
// where the system cannot do that for one of them.
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
