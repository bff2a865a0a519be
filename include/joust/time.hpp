// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>

namespace joust {

// The clock is monotonic, so that setting the wall clock can neither fire nor delay a deadline.
using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;
using Duration = std::chrono::nanoseconds;

}  // namespace joust
