// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <vector>

namespace joust {

// A CPU by the kernel's number, and its place in the machine.
struct CpuPlace {
  int cpu = 0;
  int package = 0;   // the socket
  int core = 0;      // the least CPU of its core: equal only for the hardware threads (SMT) of one core
  int capacity = 0;  // of its kind of core: big.LITTLE machines have several kinds, the faster the greater
};

// Returns the places of these CPUs in the same order. Missing files, as in some containers and virtual
// machines, mean one socket and equal cores of one CPU each. `root` is the directory of sys/.
std::vector<CpuPlace> read_topology(std::span<const int> cpus, const std::string& root = "/");

}  // namespace joust
