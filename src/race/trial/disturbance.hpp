// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "race/result.hpp"

// The part of the machine that was not available to a trial.
namespace joust::race {

// A trial with more stolen time than this share of the machine's time makes its round disturbed.
inline constexpr double kDisturbedSteal = 0.05;
// So does CPU time of foreign processes above this share.
inline constexpr double kStrangers = 0.10;

// The share of the machine's CPU time that the hypervisor gave to others in the timed window. Empty if it is
// unknown, or if the window is too short for the kernel's coarse counters.
std::optional<double> steal_share(const Trial& trial);

// CPU time of foreign processes in the timed window, as a share of the machine. Negative if our processes
// report more than the machine has used. Empty if usage is unknown, or if the window is too short for the
// kernel's coarse counters.
std::optional<double> strangers_share(const Trial& trial, bool in_process);

// The worse of both, relative to its limit: above 1 a trial is disturbed.
struct Disturbance {
  double severity = 0;
  std::string what{};  // "lost 8 % of the machine to its neighbours"
};

Disturbance disturbance_of(const Trial& trial, bool in_process);

}  // namespace joust::race
