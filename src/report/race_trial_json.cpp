// SPDX-License-Identifier: MIT
#include "report/race_trial_json.hpp"

#include "base/document.hpp"
#include "load/result_json.hpp"
#include "measure/hdr_histogram.hpp"

namespace joust::report {
namespace {

using nlohmann::ordered_json;
using race::Trial;

// Rounds counted calls, which are extrapolated from the counting pass, to whole calls.
ordered_json calls_json(const std::optional<double>& calls) {
  return calls ? ordered_json(std::llround(*calls)) : ordered_json(nullptr);
}

ordered_json trial_server_json(const Trial& trial) {
  const auto& usage = trial.server.usage;
  const auto field = [&](auto Usage::*member) {
    return usage ? ordered_json((*usage).*member) : ordered_json(nullptr);
  };
  ordered_json json{{"cpu_user_s", field(&Usage::user_s)},
                    {"cpu_system_s", field(&Usage::system_s)},
                    {"peak_memory_bytes", field(&Usage::peak_memory_bytes)},
                    {"voluntary_switches", field(&Usage::voluntary_switches)},
                    {"involuntary_switches", field(&Usage::involuntary_switches)},
                    {"system_calls", calls_json(trial.server_calls)},
                    {"bytes_received", or_null(trial.server.bytes_received)},
                    {"bytes_sent", or_null(trial.server.bytes_sent)},
                    {"socket", trial.server.socket},
                    {"errors", trial.server.errors},
                    {"missing", trial.server.missing},
                    {"notes", trial.server.notes}};
  if (!trial.server.cpu_unknown.empty()) json["cpu_unknown"] = trial.server.cpu_unknown;
  if (!trial.server_calls) json["system_calls_reason"] = trial.calls_reason;
  return json;
}

// The result of a command that moves files, in the place of a load's.
struct Transfer {
  struct Cpu {
    double system_s = 0, user_s = 0;
  };
  struct Files {
    std::uint64_t bytes = 0, count = 0;
    std::string on{};
  };
  struct Switches {
    std::uint64_t involuntary = 0, voluntary = 0;
  };

  Cpu cpu{};
  double duration_s = 0;
  std::uint64_t failed = 0;
  Files files{};
  std::optional<double> mb_per_s{};
  std::vector<std::string> messages_of_errors{};
  std::string schema = "joust-transfer-trial/1";
  Switches switches{};
  double throughput_per_s = 0;
  std::uint64_t verified = 0;
};

ordered_json transfer_json(const LoadResult& load, const race::FilePlan& files) {
  return to_document(Transfer{
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
ordered_json load_json(const Trial& trial, const race::Case& plan) {
  if (!trial.load) return nullptr;
  if (plan.files) return transfer_json(*trial.load, *plan.files);
  ordered_json load;
  add_load(load, trial.program);
  add_load(load, *trial.load);
  add_load(load, trial.choices);
  remove_histograms(load);
  return load;
}

ordered_json histograms_json(const LoadResult& load) {
  ordered_json json{{"latency", hdr_histogram(load.latency_ns)}};
  if (load.plan.open_loop()) {
    json["uncorrected_latency"] = hdr_histogram(load.uncorrected_latency());
    json["send_lateness"] = hdr_histogram(load.send_lateness());
  }
  return json;
}

ordered_json machine_json(const std::optional<MachineCpu>& machine) {
  if (!machine) return nullptr;
  return {{"busy_fraction", machine->busy_fraction()},
          {"steal_fraction", machine->steal_fraction()},
          {"softirq_fraction", machine->softirq_fraction()},
          {"cpu_s", machine->total_s()}};
}

ordered_json throttling_json(const std::optional<Throttling>& throttled) {
  if (!throttled) return nullptr;
  return {{"times", throttled->times}, {"time_s", throttled->time_s}};
}

ordered_json clock_json(const std::optional<ClockRates>& clock) {
  if (!clock) return nullptr;
  return {{"least", clock->least_mhz}, {"most", clock->most_mhz}};
}

ordered_json threads_json(const std::vector<ThreadGroup>& groups) {
  ordered_json json = ordered_json::array();
  for (const ThreadGroup& group : groups)
    json.push_back(
        {{"cpus", group.cpus}, {"nice", group.nice}, {"policy", group.policy}, {"threads", group.threads}});
  return json;
}

const char* unit_text(race::TurnUnit unit) {
  return unit == race::TurnUnit::time ? "time" : unit == race::TurnUnit::transfers ? "transfer" : "message";
}

ordered_json json_of(const std::optional<double>& value) {
  return number(value);
}

template <typename Value>
ordered_json json_of(Value value) {
  return value;
}

// Writes turns as columns, because a trial has hundreds of them.
ordered_json turns_json(const std::vector<race::Turn>& turns, const race::TurnPlan& plan) {
  const auto column = [&](auto race::Turn::*member) {
    ordered_json values = ordered_json::array();
    for (const race::Turn& turn : turns) values.push_back(json_of(turn.*member));
    return values;
  };
  return {{"unit", unit_text(plan.unit)},
          {"count", plan.count > 0 ? ordered_json(plan.count) : ordered_json(nullptr)},
          {"round", column(&race::Turn::number)},
          {"order", column(&race::Turn::order)},
          {"start", column(&race::Turn::start_s)},
          {"window_s", column(&race::Turn::window_s)},
          {"verified", column(&race::Turn::verified)},
          {"latency_sum_ns", column(&race::Turn::latency_sum_ns)},
          {"failed", column(&race::Turn::failed)},
          {"turn_s", column(&race::Turn::turn_s)},
          {"messages", column(&race::Turn::messages)},
          {"server_cpu_s", column(&race::Turn::server_cpu_s)},
          {"client_cpu_s", column(&race::Turn::client_cpu_s)},
          {"steal_s", column(&race::Turn::steal_s)}};
}

}  // namespace

ordered_json trial_json(const Trial& trial, const race::Case& plan) {
  ordered_json json{{"round", trial.round},
                    {"attempt", trial.attempt},
                    {"position", trial.position},
                    {"counted", trial.counted},
                    {"disturbed", trial.disturbed},
                    {"late", trial.late},
                    {"load", load_json(trial, plan)},
                    {"server", trial_server_json(trial)},
                    {"client", {{"system_calls", calls_json(trial.client_calls)}}},
                    {"machine", machine_json(trial.machine)},
                    {"pinned_cpus", machine_json(trial.pinned)},
                    {"throttled", throttling_json(trial.throttled)},
                    {"clock_mhz", clock_json(trial.clock)}};
  if (trial.load) json["histograms"] = histograms_json(*trial.load);
  if (!trial.turns.empty()) {
    json["turns"] = turns_json(trial.turns, plan.turn);
    json["busiest_thread"] = {{"server", number(trial.busiest_thread.server)},
                              {"client", number(trial.busiest_thread.client)}};
    json["throughput_per_s"] = number(trial.throughput_per_s());
    json["server_cpu_us_per_message"] = number(trial.server_cpu_us_per_message());
    json["quiet_turns"] = {{"throughput_per_s", number(trial.turns_throughput_per_s)},
                           {"server_cpu_us_per_message", number(trial.turns_server_cpu_us_per_message)}};
    json["cpu_s_at_rest"] = trial.cpu_s_at_rest;
  }
  if (trial.scheduling)
    json["scheduling"] = {{"server", threads_json(trial.scheduling->server)},
                          {"client", threads_json(trial.scheduling->client)}};
  if (!trial.failure.empty()) {
    json["failure"] = trial.failure;
    json["last_words"] = trial.last_words;
  }
  return json;
}

}  // namespace joust::report
