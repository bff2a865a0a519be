// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "race/model/result.hpp"

// The part of the machine that was not available to a trial.
namespace joust::race {

// A limit of the steal time, as a share of the time of a trial's CPUs. A trial above it makes its round
// disturbed. So does a trial whose CPU quota ran out.
inline constexpr double kDisturbedSteal = 0.05;
// The limit of the CPU time of foreign processes. A trial above it makes its round disturbed.
inline constexpr double kStrangers = 0.10;

// Returns the share of the time of the trial's CPUs that the hypervisor gave to other guests in the timed
// window. The CPUs are those that server and client are pinned to, or else all. Empty if the share is
// unknown, or if the window is too short for the kernel's coarse counters.
std::optional<double> steal_share(const Trial& trial);

// Returns the CPU time of foreign processes in the timed window, as a share of the machine. Negative if our
// processes report more than the machine has used. Empty if usage is unknown, or if the window is too short
// for the kernel's coarse counters.
std::optional<double> strangers_share(const Trial& trial, bool in_process);

// The worst disturbance, relative to its limit: above 1 a trial is disturbed. A trial that was observed late
// has no known usage, and the cause that kept the observer from running may have affected the trial too. It
// counts as disturbed, but less than any trial whose disturbance is known.
struct Disturbance {
  double severity = 0;
  std::string what{};  // "had 12 % of the machine used by other processes"
};

Disturbance disturbance_of(const Trial& trial, bool in_process);

}  // namespace joust::race
