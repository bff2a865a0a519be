// SPDX-License-Identifier: MIT
#include "base/system/birth_time.hpp"

#include <fcntl.h>
#include <sys/stat.h>

namespace joust {

#ifdef __linux__

std::int64_t birth_time_ns(int fd) {
  struct statx facts {};
  if (::statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &facts) != 0 || (facts.stx_mask & STATX_BTIME) == 0)
    return 0;
  return facts.stx_btime.tv_sec * 1'000'000'000 + facts.stx_btime.tv_nsec;
}

#else

std::int64_t birth_time_ns(int fd) {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) return 0;
#ifdef __APPLE__
  const timespec& born = facts.st_birthtimespec;
#else
  const timespec& born = facts.st_birthtim;
#endif
  return static_cast<std::int64_t>(born.tv_sec) * 1'000'000'000 + born.tv_nsec;
}

#endif

}  // namespace joust
