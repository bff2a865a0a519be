// SPDX-License-Identifier: MIT
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace joust {

// What a process has used since it started, or within a window: the difference of two of these.
struct Usage {
  double user_s = 0;
  double system_s = 0;
  std::uint64_t voluntary_switches = 0;    // it waited
  std::uint64_t involuntary_switches = 0;  // it was made to wait
  std::uint64_t peak_memory_bytes = 0;     // greatest resident set so far
};

// The greatest resident set, in bytes, that /proc/PID/status and /proc/PID/smaps_rollup tell of; either may
// be empty.
std::uint64_t peak_memory(std::string_view status, std::string_view rollup);

// What was used between the two. A peak has no difference: the result keeps the later one.
Usage operator-(const Usage& later, const Usage& earlier);
// What was used in both of two windows, the later one first.
Usage operator+(const Usage& later, const Usage& earlier);

// What wait4(2) or getrusage(2) reports, without the peak of memory.
Usage usage_from(const rusage& used);

// This process with all its threads, ended ones too; CPU time to the microsecond. Any thread. The peak of
// memory takes milliseconds to read in a process of a thousand threads, so own_times() leaves it out.
Usage own_usage();
Usage own_times();
// The value of a SIGUSR1 that asks a server for its times.
inline constexpr int kTimesOnly = 1;

// The sum over processes as /proc shows them; nothing when none of them exists or may be read. For servers
// that do not report their own usage. Coarser than own_usage():
// - CPU time of children that ended comes in clock ticks (usually 10 ms), once their parent has waited for
//   them. How CPU time is divided into user and system time is known in ticks only.
// - Switches are those of living threads: an ended thread takes its own along, so a window may lack some.
// - Peak memory is the sum of the processes' peaks. What they share counts in each, and their peaks need not
//   coincide: an upper bound.
std::optional<Usage> usage_of_processes(std::span<const pid_t> processes);
std::optional<Usage> usage_of_process_tree(pid_t root);  // of a process and all its descendants

// A child that has ended and has not been waited for, and the processes that it has waited for: without its
// peak of memory, as the kernel charges it with that of the process that it was forked from. Nothing where
// the system does not tell.
std::optional<Usage> usage_of_ended(pid_t child);

}  // namespace joust
