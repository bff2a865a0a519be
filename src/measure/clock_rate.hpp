// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <span>
#include <string>

namespace joust {

// The range of the clock rates of some CPUs, at one time or several.
struct ClockRates {
  double least_mhz = 0, most_mhz = 0;
};

ClockRates operator|(const ClockRates& one, const ClockRates& other);  // the range of both

// Returns the present rates of the first sixteen of these CPUs; not of more, because reading may interrupt a
// CPU. Returns nothing where the kernel does not report them, as in most virtual machines. `root` is the
// directory of sys/.
std::optional<ClockRates> read_clock_rates(std::span<const int> cpus, const std::string& root = "/");

}  // namespace joust
