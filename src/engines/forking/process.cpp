// SPDX-License-Identifier: MIT
// Needs Linux.
#include "engines/forking/process.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include "base/system/process.hpp"

namespace joust {

void signal_process(const Fd& process, int number) {
  ::syscall(SYS_pidfd_send_signal, process.get(), number, nullptr, 0);  // fails if the process has ended
}

std::string no_process_descriptors() {
  return open_process(::getpid()).is_open() ? "" : "pidfd_open is refused here (Linux 5.3 has it)";
}

}  // namespace joust
