// SPDX-License-Identifier: MIT
#include "race/figures/utilisation.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "race/figures/disturbance.hpp"
#include "race/figures/summary.hpp"
#include "race/set_up/placement.hpp"
#include "stats/intervals.hpp"
#include "stats/summary.hpp"

namespace joust::race {
namespace {

// A cost of the whole turn says so much of a server's window at most; beyond, how busy that was is not known.
constexpr double kMostUsed = 1.25;

// Returns the number of CPUs that a side can use at the same time.
double cpus_of(const std::string& pinned, std::uint64_t loops, std::size_t hosts) {
  const auto cpus = static_cast<double>(count_of_cpus(pinned));
  const auto busy = static_cast<double>(std::max<std::uint64_t>(1, loops));
  return static_cast<double>(hosts) * (cpus > 0 ? std::min(cpus, busy) : busy);
}

// Returns the utilisation of a side that used so many CPUs on average. A side whose busiest thread is full
// can do no more, however idle the others are.
double utilisation(double cpus_used, double cpus, const std::optional<double>& busiest_thread) {
  return std::max(cpus_used / cpus, cpus_used * busiest_thread.value_or(0));
}

// Returns the utilisation of a side with this CPU time for a message. What other virtual machines and
// strangers took was not usable, so it does not count as idle. More than 1 means that the cost contains work
// beyond the window, as of a server that goes on when all replies have come.
std::optional<double> utilisation(const Trial& trial, double strangers, const std::optional<double>& cost_us,
                                  const std::optional<double>& busiest_thread, double cpus) {
  const auto rate = trial.throughput_per_s();
  if (!rate || !cost_us) return std::nullopt;
  constexpr double kLeastUsable = 0.1;
  const double usable = std::max(kLeastUsable, 1 - steal_share(trial).value_or(0) - strangers);
  return utilisation(*rate * *cost_us * 1e-6 / usable, cpus, busiest_thread);
}

// Estimates the mean of a few values. One value has no interval.
std::optional<Estimate> mean_of(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  Estimate estimate{.median = stats::mean(values)};
  if (values.size() < 2) return estimate;
  const double half = stats::student_quantile(1 - stats::kTogether, values.size() - 1) *
                      std::sqrt(stats::variance(values) / static_cast<double>(values.size()));
  estimate.interval = {std::max(0.0, estimate.median - half), estimate.median + half};
  estimate.confidence = stats::kTogether;
  return estimate;
}

}  // namespace

std::size_t count_of_cpus(const std::string& list) {
  return cpus_in(list).size();
}

std::optional<double> client_utilisation(const CpuPlan& cpus, const Trial& trial, double strangers) {
  const auto used =
      utilisation(trial, strangers, trial.client_cpu_us_per_message(), trial.busiest_thread.client,
                  cpus_of(cpus.client, trial.client.threads, cpus.load_hosts));
  return used ? std::optional(std::min(*used, 1.0)) : std::nullopt;
}

void add_utilisation(const RaceResult& race, CaseResult& one) {
  const std::vector<Strangers> strangers = strangers_in(one);
  for (Entry& entry : one.entries) {
    if (entry.in_process) continue;  // one process is both sides
    std::vector<double> server, client;
    for (const Trial* trial : usable_trials(entry)) {
      const auto of_client = client_utilisation(race.cpus, *trial, strangers_on(kClientsCpus, strangers));
      if (!of_client) continue;
      client.push_back(*of_client);
      if (const auto of_server =
              utilisation(*trial, strangers_on(kServersCpus, strangers), trial->server_cpu_us_per_message(),
                          trial->busiest_thread.server, cpus_of(race.cpus.server, trial->server.threads, 1));
          of_server && *of_server <= kMostUsed)
        server.push_back(std::min(*of_server, 1.0));
    }
    entry.summary.client_utilisation = mean_of(client);
    entry.summary.server_utilisation = mean_of(server);
  }
}

ClientLimit client_limit(const Summary& summary, double strangers) {
  const auto& client = summary.client_utilisation;
  if (!client) return ClientLimit::no;
  const bool is_known = client->interval.is_known();
  if (is_known && client->interval.low > kClientIsLimit) return ClientLimit::yes;
  const double most = is_known ? client->interval.high : client->median;
  return most > kClientIsLimit || strangers > kStrangers ? ClientLimit::unknown : ClientLimit::no;
}

std::map<std::string, Capacity> capacities_of(const RaceResult& pilot) {
  std::map<std::string, Capacity> capacities;
  for (CaseResult one : pilot.cases) {
    summarize(one);
    for (const Entry& entry : one.entries) {
      const auto& rate = entry.summary.throughput_per_s;
      if (!entry.is_contestant() || !rate) continue;
      Capacity& capacity = capacities[one.plan.name];
      if (capacity.measured.empty() || rate->median < capacity.per_s) {
        capacity.per_s = rate->median;
        capacity.contestant = entry.contestant.name;
      }
      capacity.measured[entry.contestant.name] = rate->median;
    }
  }
  return capacities;
}

}  // namespace joust::race
