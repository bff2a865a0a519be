// SPDX-License-Identifier: MIT
#include "files/store/disk/openat2.hpp"

#ifdef __linux__
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <cerrno>
#include <cstdint>

namespace joust {

#ifdef __linux__

// glibc has no wrapper for openat2.
int open_resolved(int directory, const char* name, int flags) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  // EAGAIN: a rename during the lookup prevented the check for "beneath".
  for (int attempt = 0; attempt < 16; ++attempt) {
    const long fd = ::syscall(SYS_openat2, directory, name, &how, sizeof how);
    if (fd >= 0 || (errno != EAGAIN && errno != EINTR)) return static_cast<int>(fd);
  }
  return -1;
}

#else

int open_resolved(int /*directory*/, const char* /*name*/, int /*flags*/) {
  errno = ENOSYS;
  return -1;
}

#endif

}  // namespace joust
