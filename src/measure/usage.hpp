// SPDX-License-Identifier: MIT
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace joust {

// Resources that a process has used since it started, or within a window, as the difference of two readings.
struct Usage {
  double user_s = 0;
  double system_s = 0;
  std::uint64_t voluntary_switches = 0;    // the process waited
  std::uint64_t involuntary_switches = 0;  // the process was preempted
  std::uint64_t peak_memory_bytes = 0;     // greatest resident set so far
};

// Returns the greatest resident set, in bytes, from the texts of /proc/PID/status and /proc/PID/smaps_rollup.
// Either may be empty.
std::uint64_t peak_memory(std::string_view status, std::string_view rollup);

// Returns the usage between two readings. A peak has no difference: the result keeps the later one.
Usage operator-(const Usage& later, const Usage& earlier);
// Returns the usage in two windows together. The peak is the greater of both.
Usage operator+(const Usage& later, const Usage& earlier);

// Returns the usage of processes that live side by side: their peaks add up.
Usage together(const Usage& one, const Usage& other);

// Divides a CPU time, which a clock has measured, into user and system time as the kernel's ticks do. These
// separate both well enough over a longer time.
Usage scaled(const Usage& ticks, double cpu_s);

// Converts the result of wait4(2) or getrusage(2), without the peak of memory.
Usage usage_from(const rusage& used);

// Return the usage of this process with all its threads, including ended ones; CPU time to the microsecond.
// Any thread. own_times() leaves out the peak of memory, which takes milliseconds to read in a process of a
// thousand threads.
Usage own_usage();
Usage own_times();
// The value of a SIGUSR1 that asks a server for its times.
inline constexpr int kTimesOnly = 1;

// Returns the sum over processes as /proc shows them; nothing if none of them exists or may be read. For
// servers that do not report their own usage. Coarser than own_usage():
// - CPU time of children that ended comes in clock ticks (usually 10 ms), once their parent has waited for
//   them. The division of CPU time into user and system time is known in ticks only.
// - Switches are those of living threads. Ended threads take theirs along, so a window may lack some.
// - Peak memory is the sum of the processes' peaks. Shared memory counts in each process, and the peaks need
//   not coincide, so it is an upper bound.
std::optional<Usage> usage_of_processes(std::span<const pid_t> processes);

// Returns the usage of a child that has ended and has not been waited for, with the processes that it has
// waited for. The peak of memory is left out, because the kernel charges the child with that of the process
// that it was forked from. Returns nothing where the system does not report it.
std::optional<Usage> usage_of_ended(pid_t child);

}  // namespace joust
