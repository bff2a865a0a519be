// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace joust {

// How often, and for how long, CPU quotas kept processes of a control group from running: since the group was
// made, or within a window: the difference of two of these.
struct Throttling {
  std::uint64_t times = 0;  // periods of the quota (usually 100 ms) that ran out of it
  double time_s = 0;        // summed over the CPUs, so that it may exceed the window
};

Throttling operator-(const Throttling& later, const Throttling& earlier);
Throttling operator+(const Throttling& one, const Throttling& other);  // of two windows

// The quotas of this process's control group and of those above it, versions 1 and 2 together. Nothing where
// no group that can be seen counts them. `root` is where proc/ and sys/ are. Reads a few small files.
std::optional<Throttling> read_throttling(const std::string& root = "/");

}  // namespace joust
