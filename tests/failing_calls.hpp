// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace joust::test {

// Calls that a test can have fail. A program that links failing_calls.cpp has its own definitions of them,
// which go before those of the C library.
enum class Call : std::uint8_t {
  accept4,
  bind,
  ppoll,
  select,
  kevent,  // that waits
  pthread_create,
  epoll_wait,
  epoll_pwait2,
  pipe2,
  fork,
  sendto,
  recvfrom,
  sendmmsg,
  recvmmsg,
  segments,  // sendmmsg() of datagrams that the kernel is to cut (UDP_SEGMENT)
  fsync,
  flock,
  widen_pipe,  // fcntl(F_SETPIPE_SZ); the pipe then has two pages, as beyond fs.pipe-user-pages-soft
  linkat,
  unlinkat,
  renameat2,
  pwrite,
  fchmod,
  nameless,  // openat(O_TMPFILE)
  syncfs,
};
inline constexpr std::size_t kCalls = static_cast<std::size_t>(Call::syncfs) + 1;  // the last of them

// In place of an error: the call does not come back, because the process is killed.
inline constexpr int kKilled = -1;

// As long as this lives, calls fail with `error`, on whatever thread: those after the first `passed`, and at
// most `times` of them. One object for each call at a time.
class Failing {
 public:
  static constexpr std::uint64_t kAlways = ~0ULL;

  Failing(Call call, int error, std::uint64_t times = kAlways, std::uint64_t passed = 0);
  ~Failing();
  Failing(const Failing&) = delete;
  Failing& operator=(const Failing&) = delete;

  std::uint64_t failed() const;  // calls, so far

 private:
  Call call_;
};

// As long as this lives, the next call of fsync() takes so much longer, on whatever thread: in each process
// that is forked, one call. It ends with this object, but not in other processes.
class SlowDisk {
 public:
  explicit SlowDisk(std::chrono::milliseconds longer);
  ~SlowDisk();
  SlowDisk(const SlowDisk&) = delete;
  SlowDisk& operator=(const SlowDisk&) = delete;
};

}  // namespace joust::test
