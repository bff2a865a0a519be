// SPDX-License-Identifier: MIT
#include "race/trial/disturbance.hpp"

#include <algorithm>

#include "race/checks/findings.hpp"

namespace joust::race {
namespace {

// The machine's counters have steps of 10 ms, several for each CPU, so shorter windows are not judged.
constexpr double kLeastCounted_s = 0.4;

bool is_counted(const Trial& trial) {
  return trial.machine && trial.machine->total_s() >= kLeastCounted_s;
}

}  // namespace

std::optional<double> steal_share(const Trial& trial) {
  if (!is_counted(trial)) return std::nullopt;
  return trial.machine->steal_fraction();
}

std::optional<double> strangers_share(const Trial& trial, bool in_process) {
  if (trial.late || !trial.load || !is_counted(trial)) return std::nullopt;
  if (!in_process && !trial.server.usage) return std::nullopt;
  double ours = trial.load->usage.user_s + trial.load->usage.system_s;
  if (trial.server.usage) ours += trial.server.usage->user_s + trial.server.usage->system_s;
  // Excludes interrupt time, because kernels differ in whether they charge it to the interrupted process.
  const double processes = trial.machine->busy_s() - trial.machine->irq_s - trial.machine->softirq_s;
  const double most = trial.machine->busy_s();
  if (ours > most) return (most - ours) / trial.machine->total_s();
  return std::max(0.0, processes - ours) / trial.machine->total_s();
}

Disturbance disturbance_of(const Trial& trial, bool in_process) {
  const double steal = steal_share(trial).value_or(0);
  const double strangers = std::max(0.0, strangers_share(trial, in_process).value_or(0));
  if (steal / kDisturbedSteal >= strangers / kStrangers)
    return {steal / kDisturbedSteal, fmt::format("lost {} of the machine to its neighbours", percent(steal))};
  return {strangers / kStrangers,
          fmt::format("had {} of the machine used by other processes", percent(strangers))};
}

}  // namespace joust::race
