// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace joust {

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
