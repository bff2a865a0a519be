// SPDX-License-Identifier: MIT
#include "report/race_trial_json.hpp"

#include <cmath>

#include "base/document.hpp"
#include "load/result_json.hpp"
#include "measure/hdr_histogram.hpp"

namespace joust::report {
namespace {

using document::Json;
using race::Trial;

Json transfer_json(const LoadResult& load, const race::FilePlan& files) {
  return to_document(document::TransferTrial{
      .cpu = {.system_s = load.cpu.system_s, .user_s = load.cpu.user_s},
      .duration_s = load.duration_s,
      .failed = load.messages.failed,
      .files = {.bytes = files.bytes, .count = files.count, .on = files.on},
      .mb_per_s = load.number("transfer", "mb_per_s"),
      .messages_of_errors = load.messages_of_errors,
      .switches = {.involuntary = load.switches.involuntary, .voluntary = load.switches.voluntary},
      .throughput_per_s = load.throughput_per_s,
      .verified = load.messages.verified});
}

// Returns the document of the load itself, without its histograms.
Json load_json(const Trial& trial, const race::Case& plan) {
  if (!trial.load) return nullptr;
  if (plan.files) return transfer_json(*trial.load, *plan.files);
  Json load;
  add_load(load, trial.program);
  add_load(load, *trial.load);
  add_load(load, trial.choices);
  remove_histograms(load);
  return load;
}

// Rounds counted calls, which are extrapolated from the counting pass, to whole calls.
std::optional<std::int64_t> whole(const std::optional<double>& calls) {
  return calls ? std::optional<std::int64_t>(std::llround(*calls)) : std::nullopt;
}

document::TrialServer server_of(const Trial& trial) {
  document::TrialServer server{.system_calls = whole(trial.server_calls),
                               .bytes_received = trial.server.bytes_received,
                               .bytes_sent = trial.server.bytes_sent,
                               .socket = trial.server.socket,
                               .errors = trial.server.errors,
                               .missing = trial.server.missing,
                               .notes = trial.server.notes};
  if (const auto& usage = trial.server.usage) {
    server.cpu_user_s = usage->user_s;
    server.cpu_system_s = usage->system_s;
    server.peak_memory_bytes = usage->peak_memory_bytes;
    server.voluntary_switches = usage->voluntary_switches;
    server.involuntary_switches = usage->involuntary_switches;
  }
  if (!trial.server.cpu_unknown.empty()) server.cpu_unknown = trial.server.cpu_unknown;
  if (!trial.server_calls) server.system_calls_reason = trial.calls_reason;
  return server;
}

document::Histograms histograms_of(const LoadResult& load) {
  document::Histograms histograms{.latency = hdr_histogram(load.latency_ns)};
  if (load.plan.open_loop()) {
    histograms.uncorrected_latency = hdr_histogram(load.uncorrected_latency());
    histograms.send_lateness = hdr_histogram(load.send_lateness());
  }
  return histograms;
}

std::optional<document::CpuShares> shares_of(const std::optional<MachineCpu>& machine) {
  if (!machine) return std::nullopt;
  return document::CpuShares{.busy_fraction = machine->busy_fraction(),
                             .steal_fraction = machine->steal_fraction(),
                             .softirq_fraction = machine->softirq_fraction(),
                             .cpu_s = machine->total_s()};
}

document::TurnUnit unit_of(race::TurnUnit unit) {
  return unit == race::TurnUnit::time        ? document::TurnUnit::time
         : unit == race::TurnUnit::transfers ? document::TurnUnit::transfer
                                             : document::TurnUnit::message;
}

document::Turns turns_of(const std::vector<race::Turn>& turns, const race::TurnPlan& plan) {
  const auto column = [&](auto race::Turn::*member) {
    std::vector<std::remove_cvref_t<decltype(turns.front().*member)>> values;
    for (const race::Turn& turn : turns) values.push_back(turn.*member);
    return values;
  };
  document::Turns made{.unit = unit_of(plan.unit),
                       .round = column(&race::Turn::number),
                       .order = column(&race::Turn::order),
                       .start = column(&race::Turn::start_s),
                       .window_s = column(&race::Turn::window_s),
                       .verified = column(&race::Turn::verified),
                       .latency_sum_ns = column(&race::Turn::latency_sum_ns),
                       .failed = column(&race::Turn::failed),
                       .turn_s = column(&race::Turn::turn_s),
                       .messages = column(&race::Turn::messages),
                       .server_cpu_s = column(&race::Turn::server_cpu_s),
                       .client_cpu_s = column(&race::Turn::client_cpu_s),
                       .steal_s = column(&race::Turn::steal_s)};
  if (plan.count > 0) made.count = plan.count;
  return made;
}

}  // namespace

document::Trial trial_of(const Trial& trial, const race::Case& plan) {
  document::Trial made{.round = trial.round,
                       .attempt = trial.attempt,
                       .position = trial.position,
                       .counted = trial.counted,
                       .disturbed = trial.disturbed,
                       .late = trial.late,
                       .load = load_json(trial, plan),
                       .server = server_of(trial),
                       .client = {.system_calls = whole(trial.client_calls)},
                       .machine = shares_of(trial.machine),
                       .pinned_cpus = shares_of(trial.pinned),
                       .throttled = trial.throttled};
  if (const auto& clock = trial.clock)
    made.clock_mhz = document::ClockRates{.least = clock->least_mhz, .most = clock->most_mhz};
  if (trial.load) made.histograms = histograms_of(*trial.load);
  if (!trial.turns.empty()) {
    made.turns = turns_of(trial.turns, plan.turn);
    made.busiest_thread = trial.busiest_thread;
    made.throughput_per_s = trial.throughput_per_s();
    made.server_cpu_us_per_message = trial.server_cpu_us_per_message();
    made.quiet_turns =
        document::QuietTurns{.throughput_per_s = trial.turns_throughput_per_s,
                             .server_cpu_us_per_message = trial.turns_server_cpu_us_per_message};
    made.cpu_s_at_rest = trial.cpu_s_at_rest;
  }
  if (trial.scheduling)
    made.scheduling =
        document::Scheduling{.server = trial.scheduling->server, .client = trial.scheduling->client};
  if (!trial.failure.empty()) {
    made.failure = trial.failure;
    made.last_words = trial.last_words;
  }
  return made;
}

}  // namespace joust::report
