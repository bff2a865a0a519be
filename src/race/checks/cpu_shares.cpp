// SPDX-License-Identifier: MIT
#include "race/checks/cpu_shares.hpp"

#include <algorithm>

#include "race/figures/disturbance.hpp"
#include "race/set_up/cpu_list.hpp"

namespace joust::race {
namespace {

// A side is the limit from this share of the CPU time available to it.
constexpr double kSaturated = 0.95;
// A server below this share of its CPU waits for its client.
constexpr double kClearlyIdle = 0.90;

// Returns the number of CPUs that a side can use: its pinned CPUs, otherwise one for each thread.
double cpus_of(const std::string& pinned, std::uint64_t threads) {
  const std::size_t count = cpus_in(pinned).size();
  return count > 0 ? static_cast<double>(count) : static_cast<double>(threads);
}

double cpu_s(const Usage& usage) {
  return usage.user_s + usage.system_s;
}

}  // namespace

bool CpuShares::client_is_limit() const {
  return client >= kSaturated && server > 0 && server < kClearlyIdle;
}

// Steal time is not usable, so it does not count as idle.
CpuShares cpu_shares(const RaceResult& race, const Entry& entry) {
  CpuShares sum;
  double trials = 0;
  for (const Trial* trial : usable_trials(entry)) {
    if (!trial->server.usage || trial->time_of_usage_s() <= 0) continue;
    const double time_s = trial->time_of_usage_s() * std::max(0.1, 1 - steal_share(*trial).value_or(0));
    sum.client += cpu_s(trial->load->usage) / (time_s * cpus_of(race.cpus.client, trial->client.threads));
    sum.server += cpu_s(*trial->server.usage) /
                  (time_s * cpus_of(race.cpus.server, std::max<std::uint64_t>(1, trial->server.threads)));
    ++trials;
  }
  return trials == 0 ? CpuShares{} : CpuShares{sum.client / trials, sum.server / trials};
}

// A kernel thread that polls for a process is counted as the process's CPU time.
bool spins(const Entry& entry) {
  return entry.contestant.server.wait != "block" || entry.contestant.client.wait != "block" ||
         entry.server_polled || entry.client_polled;
}

}  // namespace joust::race
