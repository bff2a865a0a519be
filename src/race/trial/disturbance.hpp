// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "race/result.hpp"

// How much of the machine somebody else had while a trial was measured.
namespace joust::race {

// A trial that lost more than this share of the machine's time to its neighbours spoils its round.
inline constexpr double kDisturbedSteal = 0.05;
// So does one beside which processes that are not ours used more than this share.
inline constexpr double kStrangers = 0.10;

// CPU time of processes that are not ours during the timed window, as a share of the machine. Negative when
// our processes claim more than the machine has given; nothing where usage is not known or the window too
// short for the kernel's coarse counters.
std::optional<double> strangers_share(const Trial& trial, bool in_process);

// The worse of both, in parts of what is allowed: above 1 a trial is disturbed.
struct Disturbance {
  double severity = 0;
  std::string what{};  // "lost 8 % of the machine to its neighbours"
};

Disturbance disturbance_of(const Trial& trial, bool in_process);

}  // namespace joust::race
