// SPDX-License-Identifier: MIT
#include "report/page/trials.hpp"

#include "measure/hdr_histogram.hpp"
#include "race/model/result.hpp"

namespace joust::report::page {
namespace {

// Returns a number that may be missing or null; the key may be one of an object that is missing too.
std::optional<double> number_in(const std::optional<Node>& object, const char* key) {
  if (!object) return std::nullopt;
  const auto member = object->find(key);
  return member ? std::optional(member->number()) : std::nullopt;
}

std::optional<CpuTime> cpu_of(const std::optional<Node>& object, const char* user, const char* system) {
  const auto in_user = number_in(object, user), in_system = number_in(object, system);
  if (!in_user || !in_system) return std::nullopt;
  return CpuTime{.user_s = *in_user, .system_s = *in_system};
}

void add(std::optional<CpuTime>& sum, const std::optional<CpuTime>& more) {
  if (!more) return;
  if (!sum) sum = CpuTime{};
  sum->user_s += more->user_s;
  sum->system_s += more->system_s;
}

// Returns the CPU time of a message in microseconds. A time of 0 is not known.
std::optional<double> per_message(const std::optional<CpuTime>& cpu, const std::optional<double>& messages) {
  if (!cpu || !messages || *messages <= 0 || cpu->user_s + cpu->system_s <= 0) return std::nullopt;
  return (cpu->user_s + cpu->system_s) * 1e6 / *messages;
}

// Returns whether the CPU time of the server is that of the window, as in Trial::known_server_usage().
bool knows_server(const Node& trial, const Node& load) {
  return !trial["server"].find("cpu_unknown") &&
         number_in(load, "duration_s").value_or(0) >= race::kLeastWindowOfServer_s;
}

// Returns the cost of a message as the race compares it: that of the server, and of both sides where commands
// move files.
std::optional<double> cost_of_trial(const Node& trial, const Node& load, bool moves_files,
                                    const std::optional<CpuTime>& server,
                                    const std::optional<CpuTime>& client) {
  const auto of_turns = number_in(trial, "server_cpu_us_per_message");
  if (moves_files) {
    const auto files = number_in(load, "verified");
    const auto of_server = per_message(server, files), of_client = per_message(client, files);
    return of_client ? std::optional(of_server.value_or(0) + *of_client) : std::nullopt;
  }
  if (trial.find("turns")) return of_turns;
  if (!knows_server(trial, load)) return std::nullopt;
  return per_message(server, number_in(load.find("messages"), "verified"));
}

// Returns the throughput of an open loop, which the document has only as the rate and the messages.
std::optional<double> throughput_of(const Node& trial, const Node& load) {
  const auto of_turns = number_in(trial, "throughput_per_s");
  return of_turns ? of_turns : number_in(load, "throughput_per_s");
}

// Adds the latencies of a trial, whose histogram may be missing.
void add_latencies(const Node& trial, bool& all_known, Distribution& into) {
  const auto histograms = trial.find("histograms");
  const auto text = histograms ? histograms->find("latency") : std::nullopt;
  const auto latencies = text ? read_hdr_histogram(text->text()) : std::nullopt;
  if (latencies && latencies->count() <= Distribution::kMostValues - into.count())
    into.merge(*latencies);
  else
    all_known = false;
}

void read_failure(const Node& trial, Runner& into) {
  const auto failure = trial.find("failure");
  if (!failure) return;
  into.failure = failure->text();
  if (const auto words = trial.find("last_words"))
    for (const Node& line : words->items()) into.last_words.push_back(line.text());
}

}  // namespace

void read_trials(const Node& trials, bool moves_files, Runner& into) {
  bool knows_latencies = true;
  for (const Node& trial : trials.items()) {
    if (into.failure.empty()) read_failure(trial, into);
    if (!trial["counted"].flag() || trial.find("failure")) continue;
    const std::optional<Node> load = trial.find("load");
    if (!load) continue;
    const auto server = cpu_of(trial["server"], "cpu_user_s", "cpu_system_s");
    const auto client = cpu_of(load->find("cpu"), "user_s", "system_s");
    add(into.server_cpu, server);
    add(into.client_cpu, client);
    Generation generation{.round = trial["round"].count(),
                          .throughput = throughput_of(trial, *load),
                          .cost = cost_of_trial(trial, *load, moves_files, server, client)};
    if (const auto latency = load->find("latency_ns"))
      for (const char* percentile : {"mean", "p50", "p99", "p999"})
        if (const auto value = number_in(latency, percentile)) generation.latency_ns[percentile] = *value;
    into.generations.push_back(std::move(generation));
    add_latencies(trial, knows_latencies, into.latency);
  }
  if (!knows_latencies) into.latency = {};
}

}  // namespace joust::report::page
