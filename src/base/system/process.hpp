// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <csignal>

#include "base/fd.hpp"

namespace joust {

// Opens a descriptor that becomes readable when the process ends. Not open where the kernel refuses, and on
// systems without pidfds.
Fd open_process(pid_t process);

// Asks the kernel to end this process by this signal when its parent dies. Has no effect on macOS.
void end_with_parent(int number = SIGKILL);

// Makes this process the parent of all descendants that lose their own (a subreaper, prctl(2)). Returns false
// if it was one before. Has no effect on macOS.
bool adopt_orphans();

// Sends a signal with a value, as sigqueue() does. Fails on macOS with ENOTSUP.
int signal_with_value(pid_t process, int number, int value);

}  // namespace joust
