// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "race/result.hpp"

// The part of the machine that was not available to a trial.
namespace joust::race {

// A trial with more steal time than this share of the time of its CPUs makes its round disturbed. So does
// one whose CPU quota ran out.
inline constexpr double kDisturbedSteal = 0.05;
// So does CPU time of foreign processes above this share.
inline constexpr double kStrangers = 0.10;

// The share of the time of the trial's CPUs that the hypervisor gave to others in the timed window: of the
// CPUs that server and client are pinned to, or else of all. Empty if it is unknown, or if the window is too
// short for the kernel's coarse counters.
std::optional<double> steal_share(const Trial& trial);

// CPU time of foreign processes in the timed window, as a share of the machine. Negative if our processes
// report more than the machine has used. Empty if usage is unknown, or if the window is too short for the
// kernel's coarse counters.
std::optional<double> strangers_share(const Trial& trial, bool in_process);

// The worst of all, relative to its limit: above 1 a trial is disturbed. Of a trial that was observed late
// the usage is not known, and what kept the observer from running may have done so to the trial: it is
// disturbed, but less than any whose disturbance is known.
struct Disturbance {
  double severity = 0;
  std::string what{};  // "had 12 % of the machine used by other processes"
};

Disturbance disturbance_of(const Trial& trial, bool in_process);

}  // namespace joust::race
