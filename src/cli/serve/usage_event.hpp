// SPDX-License-Identifier: MIT
#pragma once

namespace joust {

// Writes one JSON line to the standard output: the usage of this process so far, and the time. The peak of
// memory is 0 if `value` is kTimesOnly (measure/usage.hpp). The function is async-signal-safe: it takes no
// lock and allocates no memory.
void write_usage_event(int value) noexcept;

}  // namespace joust
