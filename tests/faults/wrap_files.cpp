// SPDX-License-Identifier: MIT
//
// Calls on files and pipes, and on the memory that maps them.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

#include "faults/seam.hpp"

namespace joust::faults {
namespace {

Call sendfile_call{"sendfile", {EINTR, EAGAIN, EINVAL, EPERM, ENOMEM, EIO, ECONNRESET, kShort}};
// From a socket into a pipe; and from a pipe with bytes in it into a file, which never asks to come again.
Call splice_call{"splice", {EINTR, EAGAIN, EINVAL, EPERM, ENOMEM, ECONNRESET, kShort}};
Call splice_into_file_call{"splice into a file", {EINTR, EINVAL, EPERM, ENOMEM, ENOSPC, EIO, kShort}};
Call pipe_call{"pipe2", {EMFILE, ENFILE}};
Call fcntl_call{"fcntl", {EPERM, EBUSY, ENOMEM}};
Call read_call{"read", {EINTR, kShort}};
Call pread_call{"pread", {EINTR, EIO, kShort}};
Call pwrite_call{"pwrite", {EINTR, EIO, ENOSPC, EDQUOT, EFBIG, kShort}};
Call pwritev_call{"pwritev", {EINTR, EIO, ENOSPC, EDQUOT, EFBIG, kShort}};
Call fallocate_call{"fallocate", {EINTR, ENOSPC, EOPNOTSUPP, EFBIG}};
Call openat_call{"openat", {EINTR, EMFILE, ENFILE, ENOMEM, ENOSPC, EACCES}};
Call open_call{"open", {EINTR, EMFILE, ENFILE, ENOMEM}};
Call syscall_call{"syscall",
                  {EMFILE, ENFILE, ENOMEM, ENOSYS, EAGAIN}};  // openat2, which glibc has no name for
Call fstat_call{"fstat", {ENOMEM, EIO}};
Call fstatfs_call{"fstatfs", {EINTR, ENOMEM, EIO}};
Call fstatat_call{"fstatat", {ENOMEM, EIO, EACCES}};
Call ftruncate_call{"ftruncate", {EINTR, EIO, EFBIG}};
Call rename_call{"renameat2", {EINVAL, ENOSPC, EDQUOT, EIO}};
Call link_call{"linkat", {ENOSPC, EPERM, EMLINK}};
Call unlink_call{"unlinkat", {}};  // a temporary file would rightly be left behind
Call memfd_call{"memfd_create", {EMFILE, ENFILE, ENOMEM}};
Call mmap_call{"mmap", {ENOMEM, EAGAIN}};

}  // namespace
}  // namespace joust::faults

using namespace joust::faults;

extern "C" {

ssize_t __real_sendfile(int, int, off_t*, size_t);
ssize_t __wrap_sendfile(int to, int from, off_t* offset, size_t size) {
  const int error = sendfile_call.fault();
  if (error == kShort) size = fall_short(size);
  return error > 0 ? fail(error) : __real_sendfile(to, from, offset, size);
}

ssize_t __real_splice(int, off64_t*, int, off64_t*, size_t, unsigned);
ssize_t __wrap_splice(int from, off64_t* from_at, int to, off64_t* to_at, size_t size, unsigned flags) {
  const int error = (to_at == nullptr ? splice_call : splice_into_file_call).fault();
  if (error == kShort) size = fall_short(size);
  return error > 0 ? fail(error) : __real_splice(from, from_at, to, to_at, size, flags);
}

int __real_pipe2(int*, int);
int __wrap_pipe2(int* ends, int flags) {
  return call_or_fail(pipe_call, __real_pipe2, ends, flags);
}

// The variadic calls: their last argument is passed on, whether or not there is one.
int __real_fcntl(int, int, ...);
int __wrap_fcntl(int fd, int command, long argument) {
  const int error = fcntl_call.fault();
  return error > 0 ? fail(error) : __real_fcntl(fd, command, argument);
}

int __real_openat(int, const char*, int, ...);
int __wrap_openat(int directory, const char* path, int flags, mode_t mode) {
  const int error = openat_call.fault();
  return error > 0 ? fail(error) : __real_openat(directory, path, flags, mode);
}

int __real_open(const char*, int, ...);
int __wrap_open(const char* path, int flags, mode_t mode) {
  const int error = open_call.fault();
  return error > 0 ? fail(error) : __real_open(path, flags, mode);
}

long __real_syscall(long, ...);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f) {
  const int error = number == SYS_openat2 ? syscall_call.fault() : 0;  // the C++ library has futexes here
  return error > 0 ? fail(error) : __real_syscall(number, a, b, c, d, e, f);
}

ssize_t __real_read(int, void*, size_t);
ssize_t __wrap_read(int fd, void* buffer, size_t size) {
  const int error = read_call.fault();
  // The counter of an eventfd is read whole or not at all.
  if (error == kShort && size > sizeof(std::uint64_t)) size = fall_short(size);
  return error > 0 ? fail(error) : __real_read(fd, buffer, size);
}

ssize_t __real_pread(int, void*, size_t, off_t);
ssize_t __wrap_pread(int fd, void* buffer, size_t size, off_t offset) {
  const int error = pread_call.fault();
  if (error == kShort) size = fall_short(size);
  return error > 0 ? fail(error) : __real_pread(fd, buffer, size, offset);
}

ssize_t __real_pwrite(int, const void*, size_t, off_t);
ssize_t __wrap_pwrite(int fd, const void* buffer, size_t size, off_t offset) {
  const int error = pwrite_call.fault();
  if (error == kShort) size = fall_short(size);
  return error > 0 ? fail(error) : __real_pwrite(fd, buffer, size, offset);
}

ssize_t __real_pwritev(int, const iovec*, int, off_t);
ssize_t __wrap_pwritev(int fd, const iovec* pieces, int count, off_t offset) {
  const int error = pwritev_call.fault();
  if (error == kShort) return __real_pwrite(fd, pieces->iov_base, fall_short(pieces->iov_len), offset);
  return error > 0 ? fail(error) : __real_pwritev(fd, pieces, count, offset);
}

int __real_fallocate(int, int, off_t, off_t);
int __wrap_fallocate(int fd, int mode, off_t offset, off_t size) {
  return call_or_fail(fallocate_call, __real_fallocate, fd, mode, offset, size);
}

int __real_fstat(int, struct stat*);
int __wrap_fstat(int fd, struct stat* facts) {
  return call_or_fail(fstat_call, __real_fstat, fd, facts);
}

int __real_fstatfs(int, struct statfs*);
int __wrap_fstatfs(int fd, struct statfs* facts) {
  return call_or_fail(fstatfs_call, __real_fstatfs, fd, facts);
}

int __real_fstatat(int, const char*, struct stat*, int);
int __wrap_fstatat(int directory, const char* path, struct stat* facts, int flags) {
  return call_or_fail(fstatat_call, __real_fstatat, directory, path, facts, flags);
}

int __real_ftruncate(int, off_t);
int __wrap_ftruncate(int fd, off_t size) {
  return call_or_fail(ftruncate_call, __real_ftruncate, fd, size);
}

int __real_renameat2(int, const char*, int, const char*, unsigned);
int __wrap_renameat2(int from, const char* old_name, int to, const char* new_name, unsigned flags) {
  return call_or_fail(rename_call, __real_renameat2, from, old_name, to, new_name, flags);
}

int __real_linkat(int, const char*, int, const char*, int);
int __wrap_linkat(int from, const char* old_name, int to, const char* new_name, int flags) {
  return call_or_fail(link_call, __real_linkat, from, old_name, to, new_name, flags);
}

int __real_unlinkat(int, const char*, int);
int __wrap_unlinkat(int directory, const char* name, int flags) {
  return call_or_fail(unlink_call, __real_unlinkat, directory, name, flags);
}

int __real_memfd_create(const char*, unsigned);
int __wrap_memfd_create(const char* name, unsigned flags) {
  return call_or_fail(memfd_call, __real_memfd_create, name, flags);
}

void* __real_mmap(void*, size_t, int, int, int, off_t);
void* __wrap_mmap(void* at, size_t size, int protection, int flags, int fd, off_t offset) {
  if (const int error = mmap_call.fault(); error > 0) {
    errno = error;
    return MAP_FAILED;
  }
  return __real_mmap(at, size, protection, flags, fd, offset);
}
}
