// SPDX-License-Identifier: MIT
#include "files/store/disk/rename.hpp"

#include <fcntl.h>
#include <stdio.h>  // the calls are declared here

#include <cerrno>

namespace joust {

int rename_in(int directory, const char* from, const char* to, bool replaces) {
#ifdef __linux__
  return ::renameat2(directory, from, directory, to, replaces ? 0U : RENAME_NOREPLACE);
#elif defined(__APPLE__)
  return ::renameatx_np(directory, from, directory, to, replaces ? 0U : RENAME_EXCL);
#else
  if (replaces) return ::renameat(directory, from, directory, to);
  errno = ENOSYS;
  return -1;
#endif
}

}  // namespace joust
