// SPDX-License-Identifier: MIT
#pragma once

#include "measure/process_clock.hpp"

namespace joust::race {

// Waits until the processes of the clock are idle, and returns its reading. Every thread of a process that is
// continued wakes up and goes back to sleep, which takes a server of thousands of threads milliseconds. That
// CPU time belongs to no message. A process that polls never becomes idle, and the wait ends after 10 ms.
double quiet_reading_s(ProcessClock& clock);

}  // namespace joust::race
