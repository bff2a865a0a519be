// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "base/fd.hpp"

namespace joust {

// Sends a signal to the process of this descriptor, which is of base/system/process.hpp. Unlike kill(), never
// signals another process that has got the number of an ended one.
void signal_process(const Fd& process, int number);

// Returns why the kernel has no such descriptors; empty if it has them.
std::string no_process_descriptors();

}  // namespace joust
