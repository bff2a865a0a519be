// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

// Processes and their descendants, as /proc shows them. Any thread. Linux; elsewhere the lists are empty.
namespace joust {

// The facts of /proc/PID/stat that joust needs. Times are in seconds and come in clock ticks (usually 10 ms).
struct ProcessFacts {
  pid_t parent = 0;
  char state = '?';                             // 'T' stopped, 'Z' ended and not waited for (proc(5))
  double user_s = 0, system_s = 0;              // used by the process itself, with its ended threads
  double ended_user_s = 0, ended_system_s = 0;  // used by descendants that have ended and were waited for
  std::uint64_t began = 0;                      // in ticks since the machine started

  bool ended() const { return state == 'Z' || state == 'X'; }
  bool stopped() const { return state == 'T' || state == 't'; }
  bool waits_uninterruptibly() const { return state == 'D'; }
};

// Returns nothing if no such process exists.
std::optional<ProcessFacts> process_facts(pid_t process);

std::vector<pid_t> all_processes();  // that this one can see
std::vector<pid_t> threads_of(pid_t process);

// Returns the children of a process, including those that have ended and were not waited for. A child that
// ends meanwhile may hide another child from the list: read again where that matters.
std::vector<pid_t> children_of(pid_t process);

// Returns these processes and all their descendants, each once, in the order of discovery. Processes that do
// not exist are left out.
std::vector<pid_t> process_tree(std::span<const pid_t> roots);
inline std::vector<pid_t> process_tree(pid_t root) {
  return process_tree({&root, 1});
}

}  // namespace joust
