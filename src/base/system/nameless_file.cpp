// SPDX-License-Identifier: MIT
#include "base/system/nameless_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace joust {

#ifdef __linux__

namespace {

// Returns whether /proc has the descriptors. Without a special privilege a process can link a descriptor only
// through /proc.
bool has_proc() {
  static const bool has = ::access("/proc/self/fd", X_OK) == 0;
  return has;
}

}  // namespace

int open_nameless(int directory, mode_t mode) {
  errno = EOPNOTSUPP;
  return has_proc() ? ::openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode) : -1;
}

int name_nameless(int file, int directory, const char* name) {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  return ::linkat(AT_FDCWD, path, directory, name, AT_SYMLINK_FOLLOW);
}

#else

int open_nameless(int /*directory*/, mode_t /*mode*/) {
  errno = EOPNOTSUPP;
  return -1;
}

int name_nameless(int /*file*/, int /*directory*/, const char* /*name*/) {
  errno = EOPNOTSUPP;
  return -1;
}

#endif

}  // namespace joust
