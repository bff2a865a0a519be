// SPDX-License-Identifier: MIT
#include "race/trial/surroundings.hpp"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>

#include "joust/time.hpp"
#include "measure/proc_file.hpp"
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

Surroundings read_surroundings(const PinnedCpus& pinned) {
  const std::string text = read_proc_file("/proc/stat").value_or("");
  const auto ticks_per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  const std::chrono::duration<double> now = Clock::now().time_since_epoch();
  const auto part = [&](const std::vector<int>& cpus) {
    auto counts = cpus.empty() ? std::nullopt : parse_machine_cpu(text, ticks_per_second, cpus);
    if (counts) counts->clock_s = now.count() * static_cast<double>(cpus.size());
    return counts;
  };
  return {.machine = parse_machine_cpu(text, ticks_per_second),
          .pinned = part(pinned.all),
          .server_cpus = part(pinned.server),
          .client_cpus = part(pinned.client),
          .throttled = read_throttling(),
          .clock = read_clock_rates(pinned.all)};
}

void note_surroundings(const Surroundings& before, const Surroundings& after, Trial& trial) {
  add(trial.machine, before.machine, after.machine);
  add(trial.pinned, before.pinned, after.pinned);
  add(trial.server_cpus, before.server_cpus, after.server_cpus);
  add(trial.client_cpus, before.client_cpus, after.client_cpus);
  add(trial.throttled, before.throttled, after.throttled);
  if (!before.clock || !after.clock) return;
  const ClockRates clock = *before.clock | *after.clock;
  trial.clock = trial.clock ? *trial.clock | clock : clock;
}

PinnedCpus pinned_cpus(const CpuPlan& plan, bool in_process) {
  const std::set<int> client = cpus_in(plan.client), server = cpus_in(plan.server);
  if (client.empty() || (server.empty() && !in_process)) return {};
  if (in_process) return {.all = {client.begin(), client.end()}};
  PinnedCpus pinned;
  std::ranges::set_union(client, server, std::back_inserter(pinned.all));
  if (pinned.all.size() < client.size() + server.size()) return pinned;
  pinned.server.assign(server.begin(), server.end());
  pinned.client.assign(client.begin(), client.end());
  return pinned;
}

}  // namespace joust::race
