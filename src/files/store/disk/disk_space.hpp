// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace joust {

// Reserves disk space for a part of a file, and makes the file long enough. Returns 0 or the errno:
// EOPNOTSUPP if the file system or the kernel cannot reserve.
int reserve(int fd, std::uint64_t offset, std::uint64_t size);

// Frees the disk space of the whole pages in a part of a file. The size of the file stays. Returns 0 or the
// errno, as reserve() does.
int punch(int fd, std::uint64_t offset, std::uint64_t size);

}  // namespace joust
