// SPDX-License-Identifier: MIT
#include "race/figures/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>

#include "race/figures/disturbance.hpp"
#include "race/figures/ranking.hpp"
#include "race/figures/wording.hpp"
#include "race/model/result.hpp"
#include "race/set_up/placement.hpp"
#include "stats/intervals.hpp"
#include "stats/summary.hpp"

namespace joust::race {

namespace {

// The confidence of the interval of a contestant's own figure.
constexpr double kConfidence = 0.95;

// Returns a figure of every trial that has it.
std::vector<double> values_of(const std::vector<const Trial*>& trials, const Figure& figure) {
  std::vector<double> values;
  for (const Trial* trial : trials)
    if (const auto value = figure(*trial)) values.push_back(*value);
  return values;
}

std::optional<double> median_of(const std::vector<const Trial*>& trials, const Figure& figure) {
  const std::vector<double> values = values_of(trials, figure);
  if (values.empty()) return std::nullopt;
  return stats::median(values);
}

// Returns the median of a figure with the interval that its trials give. Nothing if no trial has the figure.
std::optional<Estimate> estimate_of(const std::vector<const Trial*>& trials, const Figure& figure) {
  const std::vector<double> values = values_of(trials, figure);
  if (values.empty()) return std::nullopt;
  const stats::Location middle = stats::median_with_interval(values, kConfidence);
  return Estimate{.median = middle.estimate, .interval = middle.interval, .confidence = middle.coverage};
}

// A figure of the CPU usage, divided by the number of verified messages.
Figure per_message(bool server, double (*figure)(const Usage&)) {
  return [=](const Trial& trial) -> std::optional<double> {
    const double messages = trial.messages_of_usage();
    const Usage* const of_server = trial.known_server_usage();
    if (messages == 0 || (server && of_server == nullptr)) return std::nullopt;
    return figure(server ? *of_server : trial.load->usage()) / messages;
  };
}

Sides sides_of(const std::vector<const Trial*>& trials, double (*figure)(const Usage&)) {
  return {.server = median_of(trials, per_message(true, figure)),
          .client = median_of(trials, per_message(false, figure))};
}

// Returns the samples of all trials together, because a median of percentiles is not a percentile.
template <typename Samples>
Distribution together(const std::vector<const Trial*>& trials, Samples LoadResult::*samples) {
  Distribution all;
  for (const Trial* trial : trials) all.merge(std::invoke(samples, *trial->load));
  return all;
}

std::optional<double> achieved(const Trial& trial) {
  return trial.load->achieved();
}

// Summarizes how the schedule was kept. Returns nothing in a closed loop.
std::optional<ScheduleSummary> schedule_of(const std::vector<const Trial*>& trials) {
  const auto share = estimate_of(trials, achieved);
  if (!share) return std::nullopt;
  return ScheduleSummary{.achieved = *share,
                         .uncorrected = together(trials, &LoadResult::uncorrected_latency),
                         .lateness = together(trials, &LoadResult::send_lateness)};
}

// Adds up the losses. Returns nothing where no delivery is lossy.
std::optional<Loss> loss_of(const std::vector<const Trial*>& trials) {
  std::optional<Loss> sum;
  for (const Trial* trial : trials)
    if (const auto loss = race::loss_of(*trial->load)) {
      sum = sum.value_or(Loss{});
      sum->lost += loss->lost;
      sum->of += loss->of;
    }
  return sum;
}

// Returns the time in which the CPUs of both sides were busy, in microseconds for each message of all trials
// together. It needs no answer to who has used them: interrupts, softirqs and other programs count too.
// Nothing if sides are not pinned, or if the windows are too short for the kernel's counters.
std::optional<double> busy_us_per_message(const std::vector<const Trial*>& trials) {
  double messages = 0;
  MachineCpu cpus;
  for (const Trial* trial : trials) {
    if (!trial->pinned) return std::nullopt;
    cpus = cpus + *trial->pinned;
    messages += trial->messages_of_usage();
  }
  if (messages == 0 || cpus.total_s() < kLeastCounted_s) return std::nullopt;
  return cpus.busy_s() * 1e6 / messages;
}

Sides memory_of(const std::vector<const Trial*>& trials) {
  Sides most;
  const auto raise = [](std::optional<double>& to, std::uint64_t bytes) {
    if (bytes > 0) to = std::max(to.value_or(0), static_cast<double>(bytes));
  };
  for (const Trial* trial : trials) {
    if (trial->server.usage) raise(most.server, trial->server.usage->peak_memory_bytes);
    raise(most.client, trial->load->peak_memory_bytes);
  }
  return most;
}

Summary summary_of(const Entry& entry, const Figure& cost) {
  const std::vector<const Trial*> trials = usable_trials(entry);
  Summary summary{.trials = trials.size()};
  if (trials.empty()) return summary;
  summary.throughput_per_s = estimate_of(trials, throughput);
  summary.server_cpu_us_per_message = estimate_of(trials, server_cost);
  summary.cost_us_per_message = estimate_of(trials, cost);
  summary.mb_per_s = median_of(trials, [](const Trial& trial) { return trial.mb_per_s(); });
  summary.deliveries_per_s = median_of(trials, [](const Trial& trial) { return trial.deliveries_per_s(); });
  summary.latency = together(trials, &LoadResult::latency_ns);
  summary.schedule = schedule_of(trials);
  summary.loss = loss_of(trials);
  for (const LatencyFigure& figure : kLatencyFigures)
    summary.latency_by_round.*figure.estimate = estimate_of(trials, latency(figure));
  summary.cpu_us_per_message =
      sides_of(trials, [](const Usage& usage) { return (usage.user_s + usage.system_s) * 1e6; });
  summary.switches_per_message = sides_of(trials, [](const Usage& usage) {
    return static_cast<double>(usage.voluntary_switches + usage.involuntary_switches);
  });
  summary.system_calls_per_message = {.server = entry.calls.server_per_message(),
                                      .client = entry.calls.client_per_message()};
  summary.peak_memory_bytes = memory_of(trials);
  if (!entry.in_process) summary.busy_us_per_message = busy_us_per_message(trials);
  return summary;
}

// The highest percentile that most contestants have in most of their trials; otherwise the mean.
const LatencyFigure* latency_to_rank_by(const CaseResult& one) {
  for (const LatencyFigure* figure : {&kP99Latency, &kMedianLatency}) {
    std::size_t measured = 0, known = 0;
    for (const Entry& entry : one.entries) {
      const std::vector<const Trial*> trials = usable_trials(entry);
      if (!entry.is_contestant() || trials.empty()) continue;
      const auto has_it = [&](const Trial* trial) { return figure->of(trial->load->latency_ns).has_value(); };
      ++measured;
      known += 2 * static_cast<std::size_t>(std::ranges::count_if(trials, has_it)) > trials.size();
    }
    if (measured == 0 || 2 * known > measured) return figure;
  }
  return &kMeanLatency;
}

// Returns why the CPU time of an entry's server is not known; empty if it is.
std::string why_cost_is_unknown(const Entry& entry) {
  const std::vector<const Trial*> trials = usable_trials(entry);
  for (const Trial* trial : trials)
    if (!trial->server.cpu_unknown.empty()) return trial->server.cpu_unknown;
  const auto ignores = [](const Trial* trial) { return trial->server.ignores_ends; };
  for (const Strangers& strangers : strangers_in(trials, entry.in_process))
    if (strangers.of == kServersCpus && strangers.share > kStrangers && std::ranges::any_of(trials, ignores))
      return fmt::format(
          "its processes ignore the end of their children, whose CPU time is lost then, and {} of {} was "
          "used "
          "by processes that are gone or not part of the race",
          percent(strangers.share), strangers.of);
  return {};
}

// Where the CPU time of a server is not known in one trial, no trial's is compared.
void forget_unknown_costs(CaseResult& one) {
  for (Entry& entry : one.entries) {
    const std::string why = why_cost_is_unknown(entry);
    if (why.empty()) continue;
    for (Entry& twin : one.entries)
      if (answerable(twin) == answerable(entry))
        for (Trial& trial : twin.trials) trial.server.cpu_unknown = why;
  }
}

}  // namespace

void summarize(CaseResult& one) {
  forget_unknown_costs(one);
  for (Entry& entry : one.entries) entry.summary = summary_of(entry, cost_of(one));
  one.latency = latency_to_rank_by(one);
  const Entry* reference = find_entry(one, one.reference);
  if (reference != nullptr && reference->summary.trials > 0) return;
  const auto measured = std::ranges::find_if(
      one.entries, [](const Entry& entry) { return entry.is_contestant() && entry.summary.trials > 0; });
  one.reference = measured == one.entries.end() ? std::string() : measured->contestant.name;
}

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
