// SPDX-License-Identifier: MIT
#include "base/system/process.hpp"

#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#elif defined(__FreeBSD__)
#include <sys/procctl.h>
#endif
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace joust {

#ifdef __linux__

Fd open_process(pid_t process) {
  return Fd(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
}

void end_with_parent(int number) {
  ::prctl(PR_SET_PDEATHSIG, number);
}

bool adopt_orphans() {
  int before = 0;
  ::prctl(PR_GET_CHILD_SUBREAPER, &before);
  return before == 0 && ::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
}

#else

Fd open_process(pid_t /*process*/) {
  errno = ENOSYS;
  return {};
}

#ifdef __FreeBSD__
void end_with_parent(int number) {
  ::procctl(P_PID, 0, PROC_PDEATHSIG_CTL, &number);
}

bool adopt_orphans() {
  return ::procctl(P_PID, 0, PROC_REAP_ACQUIRE, nullptr) == 0;
}
#else
void end_with_parent(int /*number*/) {}

bool adopt_orphans() {
  return false;
}
#endif

#endif

#ifndef __APPLE__

int signal_with_value(pid_t process, int number, int value) {
  sigval carried{};
  carried.sival_int = value;
  return ::sigqueue(process, number, carried);
}

#else

int signal_with_value(pid_t /*process*/, int /*number*/, int /*value*/) {
  errno = ENOTSUP;
  return -1;
}

#endif

}  // namespace joust
