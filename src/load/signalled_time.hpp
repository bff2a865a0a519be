// SPDX-License-Identifier: MIT
#pragma once

#include "joust/time.hpp"

namespace joust {

// A time as the value of a signal, which is an int (sigqueue(3)). It is exact to 1 us, and repeats every 36
// minutes.

// Returns the value of a time; above 0.
int signalled_time(Time time);
// Returns the time with this value that is next to `now`, earlier or later. Async-signal-safe.
Time time_of_signal(int value, Time now);

}  // namespace joust
