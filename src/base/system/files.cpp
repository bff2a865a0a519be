// SPDX-License-Identifier: MIT
#include "base/system/files.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#ifndef MFD_CLOEXEC
#include <cstdlib>
#include <string>

#include "base/files.hpp"
#endif

#ifdef __linux__
#include <sys/sendfile.h>
#else
#include <sys/socket.h>
#include <sys/uio.h>
#endif

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

#ifdef MFD_CLOEXEC

Fd memory_file(const char* name) {
  return Fd(::memfd_create(name, MFD_CLOEXEC));
}

Fd sealable_memory_file(const char* name) {
  return Fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
}

int seal_memory(const Fd& file) {
  return ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
}

#else

Fd memory_file(const char* name) {
  std::string path = temporary_directory() + "/" + name + "-XXXXXX";
  Fd file(::mkostemp(path.data(), O_CLOEXEC));
  if (file.is_open()) ::unlink(path.c_str());
  return file;
}

Fd sealable_memory_file(const char* name) {
  return memory_file(name);
}

int seal_memory(const Fd& /*file*/) {
  return 0;
}

#endif

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

ssize_t send_from_file(int socket, int file, off_t offset, std::size_t most) {
#ifdef __linux__
  return ::sendfile(socket, file, &offset, most);
#elif defined(__APPLE__)
  auto sent = static_cast<off_t>(most);  // in: the most to send; out: the bytes sent, with an error too
  const int result = ::sendfile(file, socket, offset, &sent, nullptr, 0);
  return result == 0 || sent > 0 ? static_cast<ssize_t>(sent) : -1;
#else
  off_t sent = 0;
  const int result = ::sendfile(file, socket, offset, most, nullptr, &sent, 0);
  return result == 0 || sent > 0 ? static_cast<ssize_t>(sent) : -1;
#endif
}

}  // namespace joust
