// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>

namespace joust {

// Asks the kernel to begin to write a file's bytes to the disk, so that a later fsync() has less to wait for.
// Does nothing on other systems than Linux, where fsync() writes all bytes.
inline void start_writing(int fd) {
#ifdef __linux__
  ::sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
#else
  static_cast<void>(fd);
#endif
}

}  // namespace joust
