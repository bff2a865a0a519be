// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "base/fd.hpp"

namespace joust {

// Returns when an open file was made, in nanoseconds since 1970; 0 where the system or the file system does
// not know.
std::int64_t birth_time_ns(int fd);

// Opens a file that has no name and ends with its last descriptor: memfd_create() or, where the system has
// none (macOS), a file of the temporary folder whose name is removed at once. Not open, with errno set, where
// the call fails. `name` is shown by tools that list descriptors.
Fd memory_file(const char* name);

// Opens such a file for contents that seal_memory() will protect from changes.
Fd sealable_memory_file(const char* name);

// Seals the file: from now on it neither grows, shrinks nor changes, where the system supports that. Returns
// a negative number, with errno set, if it fails.
int seal_memory(const Fd& file);

// Opens a new file in a directory, without a name, so that a killed process leaves no file behind. For
// reading and writing. Fails with EOPNOTSUPP where the system or the file system has no such files, or where
// they could get no name later.
int open_nameless(int directory, mode_t mode);

// Gives such a file a free name. Fails with EEXIST if the name is taken. Returns 0, or -1 with the errno.
int name_nameless(int file, int directory, const char* name);

// Calls sendfile(), which has other arguments on each of three systems. Returns how many bytes were sent, 0
// at the end of the file, or -1 with errno set. If bytes were sent before an error, returns their number, as
// on Linux.
ssize_t send_from_file(int socket, int file, off_t offset, std::size_t most);

#ifdef __linux__
inline constexpr bool kHasSplice = true;
#else
inline constexpr bool kHasSplice = false;
#endif

}  // namespace joust

#ifndef __linux__

// Only Linux moves bytes from a socket to a file without copying them. On other systems the calls fail like
// those of a kernel without them.
#define SPLICE_F_MOVE 0
#define F_SETPIPE_SZ (-1)
#define F_GETPIPE_SZ (-1)

inline ssize_t splice(int /*from*/, std::nullptr_t /*offset*/, int /*into*/, const off_t* /*offset*/,
                      std::size_t /*size*/, int /*flags*/) {
  errno = ENOSYS;
  return -1;
}

#endif

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
