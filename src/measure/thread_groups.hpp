// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace joust {

// Threads that the kernel schedules alike.
struct ThreadGroup {
  std::string cpus{};    // that they may run on: "0-1,3"
  int nice = 0;          // from -20, the most favoured, to 19
  std::string policy{};  // sched(7): "other", "fifo", "rr", "batch", "idle", "deadline"
  std::size_t threads = 0;
  bool operator==(const ThreadGroup&) const = default;
};

// Returns all threads of these processes, as the kernel has them now; threads and processes that have ended
// are left out. Linux; elsewhere there are none. Takes some 10 us for each thread.
std::vector<ThreadGroup> thread_groups(std::span<const pid_t> processes);

// Returns the calling thread as a group.
ThreadGroup own_thread_group();

}  // namespace joust
