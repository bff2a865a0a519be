// SPDX-License-Identifier: MIT
#include "files/store/disk/disk_space.hpp"

#include <fcntl.h>

#include <cerrno>

#include "base/check.hpp"

namespace joust {

#ifdef __linux__

namespace {

int allocate(int fd, int mode, std::uint64_t offset, std::uint64_t size) {
  const auto begin = static_cast<off_t>(offset), length = static_cast<off_t>(size);
  return retry_interrupted([&] { return ::fallocate(fd, mode, begin, length); }) == 0 ? 0 : errno;
}

}  // namespace

int reserve(int fd, std::uint64_t offset, std::uint64_t size) {
  return size == 0 ? 0 : allocate(fd, 0, offset, size);
}

int punch(int fd, std::uint64_t offset, std::uint64_t size) {
  return allocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, size);
}

#else  // elsewhere files are written without a mapping, and keep their space

int reserve(int /*fd*/, std::uint64_t /*offset*/, std::uint64_t size) {
  return size == 0 ? 0 : EOPNOTSUPP;
}

int punch(int /*fd*/, std::uint64_t /*offset*/, std::uint64_t /*size*/) {
  return EOPNOTSUPP;
}

#endif

}  // namespace joust
