// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "joust/time.hpp"
#include "measure/usage.hpp"
#include "net/stop.hpp"
#include "race/model/scenario.hpp"

namespace joust::race {

// The CPU time of a program with all processes that it starts, however late. One thread.
class FamilyClock {
 public:
  // Reads the clocks of the processes that exist now. `ended_s`: the CPU time that the kernel has kept of
  // those that have ended (Child::ended_cpu_s()). Returns the sum, in seconds since the program began.
  double read_s(std::span<const pid_t> processes, double ended_s);

  // Says why the sum is too small; empty if it is not known to be. The processes that were seen and are gone
  // must have left their CPU time to a parent that has waited for them. Where a parent ignores their end
  // (SIGCHLD), the kernel keeps none of it. The sum counts as right within 3 %, and within the kernel's
  // ticks.
  std::string why_wrong() const;

 private:
  std::map<pid_t, double> last_s_;  // of the processes at the last reading
  double gone_s_ = 0;               // what the processes that are gone had used when they were read last
  double ended_s_ = 0, sum_s_ = 0;
};

// Returns whether one of these processes ignores the end of its children (SIGCHLD), so that the CPU time of
// children that have ended is lost.
bool ignores_ends(std::span<const pid_t> processes);

// The conditions of trials with real processes.
struct ProcessSetup {
  const Scenario& scenario;
  CpuPlan cpus;
  const Stop& stop;                                  // when requested, a running trial ends as interrupted
  std::string program = "/proc/self/exe";            // the program that serves and loads
  std::vector<std::string> first_words = {"joust"};  // its arguments before the sub-command
  Duration server_start = std::chrono::seconds(15);  // time until it listens, if no trial_timeout is given
  Duration server_stop = std::chrono::seconds(8);    // time until it has drained
  Duration answer = std::chrono::seconds(5);         // time to answer a request for its usage
  // The allowed distance between our readings and the ends of the timed window, in addition to a tenth of
  // its length.
  Duration lateness = std::chrono::milliseconds(20);
};

// Returns the longest time that a trial's load may take before it counts as hung.
Duration most_time(const LimitPlan& limits, const LoadPlan& load);

// A program with every process that it has started, directly or through other processes. The processes may
// have process groups and sessions of their own, as daemons do.
//
// This process becomes a subreaper (prctl(2)): a process that has lost its parent becomes a child of this
// process, and stays in sight. An orphan belongs to the first family that looks for it. So the processes of
// only one family run at a time: they are stopped, or have ended, before those of another family run. One
// thread.
class ProcessFamily {
 public:
  ProcessFamily() = default;
  // `program`: a child of this process, in a process group of its own. The family's owner waits for the
  // program, after the end of the family.
  explicit ProcessFamily(pid_t program);
  ~ProcessFamily();  // kills all processes
  ProcessFamily(ProcessFamily&& other) noexcept;
  ProcessFamily& operator=(ProcessFamily&& other) noexcept;

  // Returns the processes at this moment, the program first; some may have ended without being waited for.
  std::vector<pid_t> members();
  // Returns the members that have not ended.
  std::vector<pid_t> running();

  void send(int number);
  // Sends SIGSTOP until no process runs: a process that was started meanwhile is stopped too. Returns when
  // all have stopped, or at the deadline.
  void stop(Time deadline);
  void kill();

  // Returns the CPU time of processes that have ended and were waited for, by this process or by members.
  double ended_cpu_s();
  // Returns the usage of orphans that have ended, without their peaks of memory.
  const Usage& ended_orphans() const { return ended_orphans_; }

 private:
  void adopt();

  pid_t program_ = -1;
  std::vector<pid_t> orphans_;
  Usage ended_orphans_{};
};

}  // namespace joust::race
