// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <span>
#include <string>

namespace joust {

// The clock rates of some CPUs at some times.
struct ClockRates {
  double least_mhz = 0, most_mhz = 0;
};

ClockRates operator|(const ClockRates& one, const ClockRates& other);  // of both

// The rates now, of the first sixteen of these CPUs, because reading may interrupt a CPU. Nothing where the
// kernel does not tell, as in most virtual machines. `root` is where sys/ is.
std::optional<ClockRates> read_clock_rates(std::span<const int> cpus, const std::string& root = "/");

}  // namespace joust
