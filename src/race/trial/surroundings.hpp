// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "race/model/result.hpp"

namespace joust::race {

// The state of the machine at one end of a trial's timed window, or of a turn.
struct Surroundings {
  std::optional<MachineCpu> machine{}, pinned{};
  std::optional<Throttling> throttled{};
  std::optional<ClockRates> clock{};
};

// Reads the state. `pinned`: the CPUs that the trial runs on; empty if it may run on any.
Surroundings read_surroundings(std::span<const int> pinned);

// Adds the window between both states to the windows that the trial has.
void note_surroundings(const Surroundings& before, const Surroundings& after, Trial& trial);

// Returns the CPUs of both sides, or only the client's for a trial in one process; empty if a side is not
// pinned.
std::vector<int> pinned_cpus(const CpuPlan& plan, bool in_process);

}  // namespace joust::race
