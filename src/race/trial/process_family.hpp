// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <vector>

#include "joust/time.hpp"
#include "measure/usage.hpp"

namespace joust::race {

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
