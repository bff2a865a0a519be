// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "joust/time.hpp"
#include "measure/affinity.hpp"
#include "measure/environment.hpp"
#include "measure/machine_cpu.hpp"
#include "net/address.hpp"

// The facts about this machine that findings are made of. Reading them changes nothing.
namespace joust::doctor {

// A limit of CPU time for a control group of this process.
struct CpuQuota {
  double cpus = 0;         // that may be busy on average
  std::string file{};      // of the limit
  std::string value{};     // its present content
  std::string no_limit{};  // the content that lifts it
};

// A process that used CPU time while this one waited.
struct BusyProcess {
  pid_t process = 0;
  std::string name{};
  double cpus = 0;  // CPU seconds for each second
  bool of_kernel = false;
};

struct CpuUse {
  std::optional<MachineCpu> since_boot{};
  std::optional<MachineCpu> waiting{};    // a moment in which this process waited,
  double waiting_s = 0;                   // its length,
  std::vector<BusyProcess> busy{};        // and who else worked in it, the busiest first
  std::optional<MachineCpu> measuring{};  // while this process was busy itself
};

struct Memory {
  std::uint64_t swap_used_bytes = 0;
  std::uint64_t available_bytes = 0;
};

// How many files a process may have open; UINT64_MAX: any number.
struct OpenFiles {
  std::uint64_t soft = 0;
  std::uint64_t hard = 0;  // joust raises its own limit to this one
};

struct Facts {
  Environment environment{};        // with the item softirq_time
  std::vector<CpuPlace> cpus{};     // that this process may run on
  std::string clock_sources{};      // that the kernel offers, with blanks between them
  std::optional<CpuQuota> quota{};  // the least of all groups
  std::optional<Throttling> throttled{};
  CpuUse use{};
  Memory memory{};
  OpenFiles files{};
  LocalPorts ports{};
  std::uint64_t time_wait = 0;  // connections that are closed and still hold their port
  int seccomp = 0;              // as in /proc/self/status; 2: a filter for each system call
  std::string no_ring{};        // why no io_uring can be made; empty if one can
  std::string no_call_count{};  // why system calls cannot be counted; empty if they can
  std::string no_congestion{};  // why joust's own congestion control is refused; empty if it is not
  std::string container{};      // its kind: "Docker"; empty outside of one
};

// Reads all but `use`. Takes some tens of milliseconds, because it tries what a file does not tell. Never
// fails: what cannot be read is empty, or "unknown". `root` is the directory of proc/ and sys/.
Facts read_facts(const std::string& root = "/");

// Waits, and fills in `use` but `measuring`.
void watch_others(Facts& facts, Duration time);

}  // namespace joust::doctor
