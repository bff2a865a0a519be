// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <vector>

#include "measure/processes.hpp"
#include "race/model/result.hpp"

namespace joust::race {

// Waits until the processes of the clock are idle, and returns its reading. Every thread of a process that is
// continued wakes up and goes back to sleep, which takes a server of thousands of threads milliseconds. That
// CPU time belongs to no message. A process that polls never becomes idle, and the wait ends after 10 ms.
double quiet_reading_s(ProcessClock& clock);

// The state of the machine at one end of a trial's timed window, or of a turn; or the difference of both
// ends.
struct Surroundings {
  std::optional<MachineCpu> machine{}, pinned{}, server_cpus{}, client_cpus{};
  std::optional<Throttling> throttled{};
  std::optional<ClockRates> clock{};
};

// The CPUs that a trial runs on.
struct PinnedCpus {
  std::vector<int> all{};  // of both sides, or only the client's for a trial in one process; empty
                           // if a side is not pinned
  std::vector<int> server{}, client{};  // empty unless both sides are pinned and share no CPU
};
PinnedCpus pinned_cpus(const CpuPlan& plan, bool in_process);

Surroundings read_surroundings(const PinnedCpus& pinned);

// Returns the window between two states. The clock rates are those of both ends.
Surroundings window_of(const Surroundings& before, const Surroundings& after);

// Adds a window to those that the trial has.
void note_surroundings(const Surroundings& window, Trial& trial);

}  // namespace joust::race
