// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace joust {

// Returns the limits of this process, user or control group that a call may have reached which was refused
// with this errno, as text to append to the error: " (ulimit -u: this user may have 30 processes and
// threads)". Empty where no limit is known. EAGAIN is treated as the refusal of a process or a thread.
std::string limit_behind(int error);

}  // namespace joust
