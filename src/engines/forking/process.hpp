// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <string>

#include "base/fd.hpp"

namespace joust {

// A descriptor of a process that becomes readable at its end; not open where the kernel refuses.
Fd open_process(pid_t process);

// Unlike kill(), never signals another process that has got the number of one that has ended.
void signal_process(const Fd& process, int number);

// Why the kernel has no such descriptors; empty if it has.
std::string no_process_descriptors();

}  // namespace joust
