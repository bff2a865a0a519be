// SPDX-License-Identifier: MIT
#include "base/system/pipe.hpp"

#include <unistd.h>

#include <array>

namespace joust {

OpenPipe open_pipe(int flags) {
  std::array<int, 2> ends{};
#ifndef __APPLE__
  if (::pipe2(ends.data(), flags) != 0) return {};
#else
  if (::pipe(ends.data()) != 0) return {};
  for (const int end : ends) {
    ::fcntl(end, F_SETFD, (flags & O_CLOEXEC) != 0 ? FD_CLOEXEC : 0);
    ::fcntl(end, F_SETFL, flags & O_NONBLOCK);
  }
#endif
  return {Fd(ends[0]), Fd(ends[1])};
}

}  // namespace joust
