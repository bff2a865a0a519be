// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <expected>
#include <string>
#include <utility>

#include "base/fd.hpp"

namespace joust {

// Counts the system calls of a program, with all its threads and descendants: the tracepoint
// raw_syscalls:sys_enter counted by perf_event_open(2). Everything happens in the kernel; the program does
// not stop and cannot detect it.
//
// Counting costs time in every process: while one counter is open, every system call of every process on the
// machine takes the kernel's slower entry (kernel/tracepoint.c, syscall_regfunc()). Measured on a 2.7 GHz
// Xeon: some 30 ns more for each call that is counted and 10 ns for each that is not. So either all
// contestants are counted or none is.
class SyscallCounter {
 public:
  // Attaches a counter. Call between fork() and exec() of the child: counting begins with its next exec. If
  // counting is impossible, returns the reason in plain words. It is usually a missing permission, which no
  // caller should treat as an error.
  static std::expected<SyscallCounter, std::string> attach(pid_t child);

  // Returns the calls so far; still exact when the program has ended. Any thread.
  std::uint64_t count() const;

 private:
  explicit SyscallCounter(Fd event) : event_(std::move(event)) {}
  Fd event_;
};

}  // namespace joust
