// SPDX-License-Identifier: MIT
#include "race/figures/disturbance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <vector>

#include "race/figures/wording.hpp"
#include "race/model/result.hpp"

namespace joust::race {
namespace {

// The shortest time of CPUs in which strangers are looked for; what may be an error of the counters is
// subtracted.
constexpr double kLeastOfStrangers_s = 0.1;

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

// A part of the machine in the timed windows, with the CPU time of our processes there.
struct PartOfMachine {
  std::string_view of = "";
  MachineCpu cpus{};
  double ours_s = 0;
  double error_s = 0;  // the standard error of the kernel's counts
};

double time_of(const Usage& usage) {
  return usage.user_s + usage.system_s;
}

// Returns the smallest parts of the machine whose usage is known: the CPUs of each side, those of both, or
// all.
std::vector<PartOfMachine> parts_of(const Trial& trial, bool in_process) {
  if (trial.late || !trial.load) return {};
  if (!in_process && !trial.serverless && !trial.server.usage) return {};
  // The user, the system and the interrupt time of a CPU are each cut off to whole ticks at both ends.
  constexpr double kErrorOfReading_s = 0.007;
  const double windows = static_cast<double>(std::max<std::size_t>(trial.turns.size(), 1));
  const double error_s = kErrorOfReading_s * std::sqrt(windows);
  const double server_s = trial.server.usage ? time_of(*trial.server.usage) : 0;
  const double client_s = time_of(trial.load->usage());
  if (trial.server_cpus && trial.client_cpus)
    return {{kServersCpus, *trial.server_cpus, server_s, error_s},
            {kClientsCpus, *trial.client_cpus, client_s, error_s}};
  if (trial.pinned) return {{kPinnedCpus, *trial.pinned, server_s + client_s, error_s}};
  if (trial.machine) return {{"the machine", *trial.machine, server_s + client_s, error_s}};
  return {};
}

// Returns the CPU time of strangers that is certain.
double stranger_s(const PartOfMachine& part) {
  // Excludes interrupt time, because kernels differ in whether they charge it to the interrupted process.
  const double most = part.cpus.most_busy_s();
  const double processes = part.cpus.busy_s() - part.cpus.irq_s - part.cpus.softirq_s;
  const double doubt_s = 2 * part.error_s;
  if (part.ours_s > most + doubt_s) return most + doubt_s - part.ours_s;
  return std::max(0.0, processes - part.ours_s - doubt_s);
}

Disturbance strangers_of(const Trial& trial, bool in_process) {
  const Trial* const one = &trial;
  Strangers worst;
  for (const Strangers& here : strangers_in({&one, 1}, in_process))
    if (here.share > worst.share) worst = here;
  return {.severity = worst.share / kStrangers,
          .what = fmt::format("had {} of {} used by other processes", percent(worst.share), worst.of)};
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

std::vector<Strangers> strangers_in(std::span<const Trial* const> trials, bool in_process) {
  std::map<std::string_view, PartOfMachine> parts;
  for (const Trial* trial : trials)
    for (const PartOfMachine& part : parts_of(*trial, in_process)) {
      PartOfMachine& sum = parts.try_emplace(part.of, PartOfMachine{.of = part.of}).first->second;
      sum.cpus = sum.cpus + part.cpus;
      sum.ours_s += part.ours_s;
      sum.error_s = std::hypot(sum.error_s, part.error_s);
    }
  std::vector<Strangers> strangers;
  for (const auto& [of, part] : parts)
    if (part.cpus.total_s() >= kLeastOfStrangers_s)
      strangers.push_back({.share = stranger_s(part) / part.cpus.total_s(), .of = part.of});
  return strangers;
}

std::vector<Strangers> strangers_in(const CaseResult& one) {
  std::vector<const Trial*> trials;
  for (const Entry* entry : entries_of_contestants(one))
    if (!entry->in_process)
      for (const Trial* trial : usable_trials(*entry)) trials.push_back(trial);
  return strangers_in(trials, false);
}

double strangers_on(std::string_view side, const std::vector<Strangers>& strangers) {
  double share = 0;
  for (const Strangers& here : strangers)
    if (here.of == side || here.of == kPinnedCpus) share = std::max(share, here.share);
  return share;
}

Disturbance disturbance_of(const Trial& trial, bool in_process) {
  return std::ranges::max(
      {steal_of(trial), strangers_of(trial, in_process), throttling_of(trial), lateness_of(trial)}, {},
      &Disturbance::severity);
}

}  // namespace joust::race
