// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>

namespace joust {

#ifdef __linux__
inline constexpr bool kHasSplice = true;
#else
inline constexpr bool kHasSplice = false;
#endif

}  // namespace joust

#ifndef __linux__

#include <sys/types.h>

#include <cerrno>
#include <cstddef>

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
