// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <vector>

namespace joust {

// A CPU as the kernel counts them, and its place in the machine.
struct CpuPlace {
  int cpu = 0;
  int package = 0;   // the socket
  int core = 0;      // the least CPU of its core: equal for the hardware threads (SMT) of one core only
  int capacity = 0;  // of a core of its kind: big.LITTLE machines have several kinds, the faster the greater
};

// The places of these CPUs in the same order. Files that are missing, as in some containers and virtual
// machines, mean one socket and equal cores of one CPU each. `root` is where sys/ is.
std::vector<CpuPlace> read_topology(std::span<const int> cpus, const std::string& root = "/");

}  // namespace joust
