// SPDX-License-Identifier: MIT
#include "race/trial/surroundings.hpp"

#include <set>

#include "race/set_up/cpu_list.hpp"

namespace joust::race {
namespace {

// Adds the difference of two readings of one counter, where both are known.
template <typename Counter>
void add(std::optional<Counter>& sum, const std::optional<Counter>& before,
         const std::optional<Counter>& after) {
  if (before && after) sum = sum.value_or(Counter{}) + (*after - *before);
}

}  // namespace

Surroundings read_surroundings(std::span<const int> pinned) {
  return {.machine = read_machine_cpu(),
          .pinned = pinned.empty() ? std::nullopt : read_machine_cpu(pinned),
          .throttled = read_throttling(),
          .clock = read_clock_rates(pinned)};
}

void note_surroundings(const Surroundings& before, const Surroundings& after, Trial& trial) {
  add(trial.machine, before.machine, after.machine);
  add(trial.pinned, before.pinned, after.pinned);
  add(trial.throttled, before.throttled, after.throttled);
  if (!before.clock || !after.clock) return;
  const ClockRates clock = *before.clock | *after.clock;
  trial.clock = trial.clock ? *trial.clock | clock : clock;
}

std::vector<int> pinned_cpus(const CpuPlan& plan, bool in_process) {
  std::set<int> cpus = cpus_in(plan.client);
  const std::set<int> of_server = cpus_in(plan.server);
  if (cpus.empty() || (of_server.empty() && !in_process)) return {};
  if (!in_process) cpus.insert(of_server.begin(), of_server.end());
  return {cpus.begin(), cpus.end()};
}

}  // namespace joust::race
