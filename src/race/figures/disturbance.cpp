// SPDX-License-Identifier: MIT
#include "race/figures/disturbance.hpp"

#include <algorithm>

#include "race/figures/wording.hpp"

namespace joust::race {
namespace {

// The shortest window that is judged. The machine's counters have steps of 10 ms, several for each CPU.
constexpr double kLeastCounted_s = 0.4;

// The least excess over its limit of a trial that is disturbed whatever the figure.
constexpr double kLeastExcess = 0.02;

bool is_counted(const std::optional<MachineCpu>& cpus) {
  return cpus && cpus->total_s() >= kLeastCounted_s;
}

Disturbance steal_of(const Trial& trial) {
  const double steal = steal_share(trial).value_or(0);
  return {.severity = steal / kDisturbedSteal,
          .what = fmt::format("lost {} of {} to other virtual machines on this host", percent(steal),
                              trial.pinned ? "its CPUs" : "the machine")};
}

Disturbance strangers_of(const Trial& trial, bool in_process) {
  const double strangers = std::max(0.0, strangers_share(trial, in_process).value_or(0));
  return {.severity = strangers / kStrangers,
          .what = fmt::format("had {} of the machine used by other processes", percent(strangers))};
}

Disturbance throttling_of(const Trial& trial) {
  if (!trial.throttled || trial.throttled->times == 0) return {};
  const double window_s = trial.load && trial.load->duration_s > 0 ? trial.load->duration_s : 1;
  return {.severity = 1 + kLeastExcess + trial.throttled->time_s / window_s / kDisturbedSteal,
          .what = fmt::format("was held up for {:.3g} s by a CPU quota", trial.throttled->time_s)};
}

Disturbance lateness_of(const Trial& trial) {
  if (!trial.late) return {};
  return {.severity = 1 + kLeastExcess / 2,
          .what = "was observed late, as this process was kept from running"};
}

}  // namespace

std::optional<double> steal_share(const Trial& trial) {
  const std::optional<MachineCpu>& cpus = trial.pinned ? trial.pinned : trial.machine;
  if (!is_counted(cpus)) return std::nullopt;
  return cpus->steal_fraction();
}

std::optional<double> strangers_share(const Trial& trial, bool in_process) {
  if (trial.late || !trial.load || !is_counted(trial.machine)) return std::nullopt;
  if (!in_process && !trial.serverless && !trial.server.usage) return std::nullopt;
  double ours = trial.load->usage.user_s + trial.load->usage.system_s;
  if (trial.server.usage) ours += trial.server.usage->user_s + trial.server.usage->system_s;
  // Excludes interrupt time, because kernels differ in whether they charge it to the interrupted process.
  const double processes = trial.machine->busy_s() - trial.machine->irq_s - trial.machine->softirq_s;
  const double most = trial.machine->busy_s();
  if (ours > most) return (most - ours) / trial.machine->total_s();
  return std::max(0.0, processes - ours) / trial.machine->total_s();
}

Disturbance disturbance_of(const Trial& trial, bool in_process) {
  return std::ranges::max(
      {steal_of(trial), strangers_of(trial, in_process), throttling_of(trial), lateness_of(trial)}, {},
      &Disturbance::severity);
}

}  // namespace joust::race
