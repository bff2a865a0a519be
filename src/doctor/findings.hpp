// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doctor/facts.hpp"

namespace joust::doctor {

// Findings: the meaning of the facts of a machine for a race. Pure functions: no I/O, no clock; any thread.

enum class Level {
  good,     // nothing to mend
  unknown,  // the machine does not tell
  note,     // limits what a race can show, or its precision
  warning,  // distorts a race
};

// A finding, as it is in the document joust-doctor/1.
struct Finding {
  std::string_view subject;  // "governor"
  Level level;
  std::string found;     // "powersave"
  std::string effect{};  // on a race; empty for good and unknown
  std::string mend{};    // a shell command; empty if none mends it
  std::string undo{};    // the command that undoes `mend`; empty if nothing is to be undone
  std::string advice{};  // where no command mends it, or beside the command
};

// Returns one finding for each subject, in a fixed order.
std::vector<Finding> findings(const Facts& facts);

// The functions that findings() calls. Each looks at the facts of one subject.
using Judge = Finding (*)(const Facts& facts);

// CPUs and clocks.
Finding judge_cores(const Facts& facts);
Finding judge_allowed_cpus(const Facts& facts);
Finding judge_smt(const Facts& facts);
Finding judge_governor(const Facts& facts);
Finding judge_turbo(const Facts& facts);
Finding judge_clock_source(const Facts& facts);
Finding judge_softirq_time(const Facts& facts);

// Others on the machine.
Finding judge_hypervisor(const Facts& facts);
Finding judge_container(const Facts& facts);
Finding judge_steal(const Facts& facts);
Finding judge_other_load(const Facts& facts);
Finding judge_swap(const Facts& facts);

// Limits.
Finding judge_quota(const Facts& facts);
Finding judge_open_files(const Facts& facts);
Finding judge_local_ports(const Facts& facts);
Finding judge_time_wait(const Facts& facts);
Finding judge_congestion_control(const Facts& facts);

// Abilities of this program on this machine.
Finding judge_build(const Facts& facts);
Finding judge_io_uring(const Facts& facts);
Finding judge_seccomp(const Facts& facts);
Finding judge_call_count(const Facts& facts);

}  // namespace joust::doctor
