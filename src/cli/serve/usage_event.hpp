// SPDX-License-Identifier: MIT
#pragma once

namespace joust {

// Writes one JSON line to the standard output: the usage so far of this process and of those that it has
// waited for, and the time. The peak of memory is that of this process, and 0 if `value` is kTimesOnly
// (measure/usage.hpp). The function is async-signal-safe: it takes no lock and allocates no memory.
void write_usage_event(int value) noexcept;

}  // namespace joust
