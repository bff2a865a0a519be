// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "race/model/result.hpp"

// The part of the machine that was not available to a trial.
namespace joust::race {

// A limit of the steal time, as a share of the time of a trial's CPUs. A trial above it makes its round
// disturbed. So does a trial whose CPU quota ran out.
inline constexpr double kDisturbedSteal = 0.05;
// The limit of the CPU time of foreign processes, as a share. A trial above it makes its round disturbed.
inline constexpr double kStrangers = 0.10;

// The shortest window that is judged, as time of all its CPUs. The kernel's counters have steps of 10 ms,
// several for each CPU.
inline constexpr double kLeastCounted_s = 0.4;

// Returns the share of the time of the trial's CPUs that the hypervisor gave to other guests in the timed
// window. The CPUs are those that server and client are pinned to, or else all. Empty if the share is
// unknown, or if the window is too short for the kernel's coarse counters.
std::optional<double> steal_share(const Trial& trial);

// The CPU time of foreign processes in the timed windows, as a share of the CPUs of a side, of those of both
// sides, or of the machine: of the smallest part of the machine that is known. So an intruder on the server's
// CPU counts alike on every machine. Negative if our processes report more than the CPUs were busy.
inline constexpr std::string_view kServersCpus = "the server's CPUs", kClientsCpus = "the client's CPUs",
                                  kPinnedCpus = "the pinned CPUs";
struct Strangers {
  double share = 0;
  std::string_view of = "the machine";  // a literal
};

// Returns the strangers of trials together, on each side if both have CPUs of their own. The shares are the
// least that is certain: the kernel counts in ticks, of which each window, or turn, may be off by some. Empty
// if usage is unknown, or if the windows are too short for the kernel's counters.
std::vector<Strangers> strangers_in(std::span<const Trial* const> trials, bool in_process);

// Returns the strangers in all trials of a case's contestants, which know them better than each trial alone.
std::vector<Strangers> strangers_in(const CaseResult& one);
// Returns the share of a side's CPUs (kServersCpus, kClientsCpus) that strangers used: of those of both sides
// where no more is known, and 0 where sides have no CPUs of their own.
double strangers_on(std::string_view side, const std::vector<Strangers>& strangers);

// The worst disturbance, relative to its limit: above 1 a trial is disturbed. A trial that was observed late
// has no known usage, and the cause that kept the observer from running may have affected the trial too. It
// counts as disturbed, but less than any trial whose disturbance is known.
struct Disturbance {
  double severity = 0;
  std::string what{};  // "had 12 % of the server's CPUs used by other processes"
};

Disturbance disturbance_of(const Trial& trial, bool in_process);

}  // namespace joust::race
