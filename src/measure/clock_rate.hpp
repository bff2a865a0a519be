// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
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

// How often, and for how long, CPU quotas kept processes of a control group from running: since the group was
// made, or within a window, as the difference of two readings.
struct Throttling {
  std::uint64_t times = 0;  // periods of the quota (usually 100 ms) in which it ran out
  double time_s = 0;        // summed over the CPUs, so that it may exceed the window
};

Throttling operator-(const Throttling& later, const Throttling& earlier);
Throttling operator+(const Throttling& one, const Throttling& other);  // the sum of two windows

// Reads the quotas of this process's control group and of those above it, versions 1 and 2 together. Returns
// nothing where no visible group counts them. `root` is the directory of proc/ and sys/. Reads a few small
// files.
std::optional<Throttling> read_throttling(const std::string& root = "/");

}  // namespace joust
