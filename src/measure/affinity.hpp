// SPDX-License-Identifier: MIT
#pragma once

#include <sched.h>

#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Which CPUs a thread may run on.
namespace joust {

// The CPUs the calling thread may run on now, in ascending order: after pin_to(), those it was pinned to.
// Throws std::system_error on a machine with more than 1024 CPUs.
std::vector<int> allowed_cpus();

// A set of CPUs to bind to. It allocates nothing, so bind() may run between fork() and exec().
class CpuSet {
 public:
  explicit CpuSet(std::span<const int> cpus);

  // Binds the calling thread; negative, with errno set, where the kernel refuses: ENOTSUP on macOS, which
  // binds no thread to a CPU.
  int bind() const;

 private:
#ifndef __APPLE__
  cpu_set_t set_;
#endif
};

// "0", "0-1,3" as the kernel and taskset write it. Ascending and without repetition. Every CPU named must be
// one of `available`; the error says what is wrong and which there are.
std::expected<std::vector<int>, std::string> parse_cpus(std::string_view text,
                                                        std::span<const int> available);

// {0, 1, 3} -> "0-1,3"
std::string format_cpus(std::span<const int> cpus);

// Pins the calling thread and all threads and processes it starts from now on. Throws std::system_error when
// the kernel refuses, as it does when none of them is online and in the cpuset of this process.
void pin_to(std::span<const int> cpus);

}  // namespace joust
