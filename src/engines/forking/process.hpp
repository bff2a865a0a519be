// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "base/fd.hpp"

namespace joust {

// `process` is of base/system/process.hpp. Unlike kill(), never signals another process that has got the
// number of one that has ended.
void signal_process(const Fd& process, int number);

// Why the kernel has no such descriptors; empty if it has.
std::string no_process_descriptors();

}  // namespace joust
