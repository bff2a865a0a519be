// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include "base/fd.hpp"

namespace joust {

// A descriptor that becomes readable when the process ends; not open where the kernel refuses, and on systems
// without pidfds.
Fd open_process(pid_t process);

// Asks the kernel to kill this process when its parent dies. macOS does not offer that.
void end_with_parent();

// sigqueue(): kill() with a value. macOS delivers no values: fails with ENOTSUP there.
int signal_with_value(pid_t process, int number, int value);

}  // namespace joust
