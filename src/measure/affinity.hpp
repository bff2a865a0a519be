// SPDX-License-Identifier: MIT
#pragma once

#include <sched.h>

#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace joust {

// Functions for the CPUs that a thread may run on.

// Returns the CPUs that the calling thread may run on now, in ascending order: after pin_to(), the given
// CPUs. Throws std::system_error on a machine with more than 1024 CPUs.
std::vector<int> allowed_cpus();

// A set of CPUs to bind to. It allocates nothing, so bind() may run between fork() and exec().
class CpuSet {
 public:
  explicit CpuSet(std::span<const int> cpus);

  // Binds the calling thread. Returns a negative number, with errno set, where the kernel refuses: ENOTSUP on
  // macOS, which binds no thread to a CPU.
  int bind() const;

 private:
#ifndef __APPLE__
  cpu_set_t set_;
#endif
};

// Reads a list as the kernel and taskset write it: "0", "0-1,3". The result is ascending and without
// repetition. Every CPU named must be one of `available`. The error names the mistake and the available CPUs.
std::expected<std::vector<int>, std::string> parse_cpus(std::string_view text,
                                                        std::span<const int> available);

// Formats a list: {0, 1, 3} -> "0-1,3".
std::string format_cpus(std::span<const int> cpus);

// Pins the calling thread and all threads and processes that it starts from now on. Throws std::system_error
// when the kernel refuses, as it does when none of the CPUs is online and in the cpuset of this process.
void pin_to(std::span<const int> cpus);

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
