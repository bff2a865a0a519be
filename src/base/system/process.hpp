// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <csignal>

#include "base/fd.hpp"

namespace joust {

// A descriptor that becomes readable when the process ends; not open where the kernel refuses, and on systems
// without pidfds.
Fd open_process(pid_t process);

// Asks the kernel to end this process by this signal when its parent dies. macOS does not offer that.
void end_with_parent(int number = SIGKILL);

// Makes this process the parent of all descendants that lose their own (a subreaper, prctl(2)). False if it
// was that before. macOS does not offer that.
bool adopt_orphans();

// sigqueue(): kill() with a value. macOS delivers no values: fails with ENOTSUP there.
int signal_with_value(pid_t process, int number, int value);

}  // namespace joust
