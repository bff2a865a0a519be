// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

namespace joust {

// Lets this thread send datagrams to itself over loopback for 10 ms, and returns the share of the time that
// its CPU clock counts: near 1 if it counts softirqs. Nothing if no socket can be made.
std::optional<double> counted_share_of_sending();

// Returns kSoftirqInside, kSoftirqApart or "unknown".
std::string softirq_time(std::optional<double> counted_share);

}  // namespace joust
