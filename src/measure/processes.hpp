// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

// Processes and their descendants, as /proc shows them, and the CPU time and the threads of each. Any thread,
// but for ProcessClock. Linux; elsewhere the lists are empty.
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

// The CPU time of other processes, read from outside to the nanosecond (clock_getcpuclockid(3)). The
// processes need not cooperate, and may be stopped. One thread.
class ProcessClock {
 public:
  ProcessClock() = default;  // without a process: always 0
  explicit ProcessClock(std::span<const pid_t> processes);

  // Returns the seconds since the processes began. A process that has ended counts with the time that was
  // read last.
  double read_s();

 private:
  struct Process {
    clockid_t clock;
    double last_s;
  };
  std::vector<Process> processes_;
};

// Returns the CPU time of one process so far, in seconds; nothing if no such process exists.
std::optional<double> cpu_time_s(pid_t process);

// Returns why the figures of other processes (of this clock and of usage.hpp) cannot be read on this system,
// so that no race is possible. Empty where they can be read.
std::string why_processes_have_no_figures();

// The CPU time of threads since they began, in nanoseconds, by thread.
using ThreadTimes = std::map<pid_t, std::uint64_t>;

// Reads all threads of these processes. Threads that have ended are left out. Linux; elsewhere there are
// none. Takes some 10 us for each thread.
ThreadTimes thread_times(std::span<const pid_t> processes);

// Returns the share of the CPU time between two readings that the busiest thread used, from 0 to 1. A thread
// without an earlier reading began meanwhile. `all_s`: the time of all threads, as far as it is known in
// another way: those that ended meanwhile are not in the readings. Nothing if no time was used.
std::optional<double> busiest_share(const ThreadTimes& before, const ThreadTimes& after, double all_s = 0);

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
