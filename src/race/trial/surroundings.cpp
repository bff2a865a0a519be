// SPDX-License-Identifier: MIT
#include "race/trial/surroundings.hpp"

#include <set>

#include "race/scenario/cpu_list.hpp"

namespace joust::race {
namespace {

// What has passed between two readings of one counter, where both are known.
template <typename Counter>
std::optional<Counter> between(const std::optional<Counter>& before, const std::optional<Counter>& after) {
  return before && after ? std::optional(*after - *before) : std::nullopt;
}

}  // namespace

Surroundings read_surroundings(std::span<const int> pinned) {
  return {.machine = read_machine_cpu(),
          .pinned = pinned.empty() ? std::nullopt : read_machine_cpu(pinned),
          .throttled = read_throttling(),
          .clock = read_clock_rates(pinned)};
}

void note_surroundings(const Surroundings& before, const Surroundings& after, Trial& trial) {
  trial.machine = between(before.machine, after.machine);
  trial.pinned = between(before.pinned, after.pinned);
  trial.throttled = between(before.throttled, after.throttled);
  if (before.clock && after.clock) trial.clock = *before.clock | *after.clock;
}

std::vector<int> pinned_cpus(const CpuPlan& plan, bool in_process) {
  std::set<int> cpus = cpus_in(plan.client);
  const std::set<int> of_server = cpus_in(plan.server);
  if (cpus.empty() || (of_server.empty() && !in_process)) return {};
  if (!in_process) cpus.insert(of_server.begin(), of_server.end());
  return {cpus.begin(), cpus.end()};
}

}  // namespace joust::race
