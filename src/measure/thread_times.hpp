// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>

namespace joust {

// The CPU time of threads since they began, in nanoseconds, by thread.
using ThreadTimes = std::map<pid_t, std::uint64_t>;

// Reads all threads of these processes. Threads that have ended are left out. Linux; elsewhere there are
// none. Takes some 10 us for each thread.
ThreadTimes thread_times(std::span<const pid_t> processes);

// Returns the share of the CPU time between two readings that the busiest thread used, from 0 to 1. A thread
// without an earlier reading began meanwhile. `all_s`: the time of all threads, as far as it is known in
// another way: those that ended meanwhile are not in the readings. Nothing if no time was used.
std::optional<double> busiest_share(const ThreadTimes& before, const ThreadTimes& after, double all_s = 0);

}  // namespace joust
