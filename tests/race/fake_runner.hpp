// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "load/result_json.hpp"
#include "race/trial/child.hpp"
#include "race/trial/runner.hpp"

namespace joust::race {

// Latencies in nanoseconds, and how many messages had each: exactly these values.
inline Distribution latencies(const std::map<std::uint64_t, std::uint64_t>& counts) {
  std::vector<Distribution::Bucket> buckets;
  std::uint64_t sum_ns = 0;
  for (const auto& [value_ns, count] : counts) {
    if (count > 0) buckets.push_back({value_ns, value_ns, count});
    sum_ns += value_ns * count;
  }
  if (buckets.empty()) return {};
  const std::uint64_t least_ns = buckets.front().low_ns, greatest_ns = buckets.back().high_ns;
  return {std::move(buckets), least_ns, greatest_ns, sum_ns};
}

// Latencies around a typical one: the median is that, 99 % have at most twice as much, and the greatest is
// four times as long.
inline Distribution usual_latencies(double typical_ns, std::uint64_t samples) {
  const auto times = [&](double factor) {
    return static_cast<std::uint64_t>(std::llround(factor * typical_ns));
  };
  std::map<std::uint64_t, std::uint64_t> counts;
  std::uint64_t left = samples;
  for (const auto& [factor, parts] : {std::pair{1.5, 32}, {2.0, 7}, {3.0, 1}})
    left -= counts[times(factor)] = samples * static_cast<std::uint64_t>(parts) / 128;
  const std::uint64_t greatest = std::min<std::uint64_t>(left, samples / 5000 + 1);
  counts[times(4)] = greatest;
  counts[times(1)] += left - greatest;
  const Distribution all = latencies(counts);
  return {all.buckets(), all.min(), all.max(), times(1) * samples};
}

// The result of a load child for a flawless trial of this load, with this typical latency.
inline LoadResult flawless_load(const Case& one, double throughput, double latency_ns) {
  LoadPlan plan = one.load;
  plan.turns = false;
  plan.request_timeout = std::chrono::seconds(5);
  LoadResult load = no_result(plan);
  load.duration_s = load.cpu.over_s =
      one.load.messages ? 1.0 : std::chrono::duration<double>(one.load.duration).count();
  const auto verified = static_cast<std::uint64_t>(throughput * load.duration_s);
  const std::uint64_t payload = one.load.payload.value_or(32);
  const std::uint64_t flying = one.load.messages || one.load.open_loop() ? 0 : one.load.connections;
  load.connections.ok = load.connections.answered = one.load.connections;
  load.messages.sent = verified + flying;
  load.messages.verified = verified;
  load.messages.in_flight = flying;
  load.bytes.sent = load.bytes.received = verified * payload;
  load.bytes.total_sent = load.bytes.total_received = verified * payload * 13 / 10;
  load.throughput_per_s = throughput;
  load.latency_ns = usual_latencies(latency_ns, verified);
  if (one.load.open_loop()) {
    load.messages.due = load.messages.sent;
    load.uncorrected_latency_ns = usual_latencies(0.9 * latency_ns, verified);
    load.send_lateness_ns = usual_latencies(5e3, verified);
  }
  load.slices.assign(10, verified / 10);
  load.set_usage({.user_s = 0.1 * load.duration_s,
                  .system_s = 0.5 * load.duration_s,
                  .voluntary_switches = verified / 50,
                  .involuntary_switches = 20,
                  .peak_memory_bytes = 12'000'000});
  return load;
}

// In a closed loop the latency follows from the throughput. In an open loop it is as if the throughput were
// the server's capacity: the rate is kept.
inline LoadResult flawless_load(const Case& one, double throughput) {
  const double latency_ns = 1e9 * static_cast<double>(one.load.connections) / throughput;
  return flawless_load(one, one.load.open_loop() ? one.load.rate_per_s : throughput, latency_ns);
}

// The document that a load child would have written.
inline nlohmann::ordered_json load_document(const Case& one, const EngineChoice& client,
                                            const LoadResult& load) {
  nlohmann::ordered_json document{
      {"schema", "joust-load/1"},
      {"protocol", one.protocol},
      {"address", "127.0.0.1:40001"},
      {"engine", client.engine},
      {"threads", client.threads},
      {"wait", client.wait},
      {"knobs", client.knobs},
      {"build", {{"type", "Release"}, {"sanitizers", ""}, {"version", "0.1.0"}}},
      {"socket",
       {{"nodelay", true}, {"send_buffer", 87040}, {"receive_buffer", 131072}, {"congestion", "cubic"}}}};
  add_load(document, load);
  return document;
}

// The figures of a protocol that counts deliveries.
inline ResultGroup deliveries(const std::vector<std::pair<std::string, std::uint64_t>>& counts) {
  ResultGroup group{.name = "deliveries", .figures = {}};
  for (const auto& [what, count] : counts) group.figures.emplace_back(what, count);
  return group;
}

// A flawless trial: the server busy to nine tenths of one of two CPUs, nothing stolen.
inline Trial flawless_trial(const TrialOrder& order, double throughput) {
  Trial trial;
  const EngineChoice& client = order.entry.contestant.client;
  const LoadResult load = flawless_load(order.load_case, throughput);
  const auto wrong = read_load(load_document(order.load_case, client, load).dump(), trial);
  if (wrong) throw std::logic_error(*wrong);
  trial.load = load;  // with the exact latencies
  const double duration_s = trial.load->duration_s;
  if (!order.entry.in_process) {
    const EngineChoice& server = order.entry.contestant.server;
    trial.server.usage = Usage{.user_s = 0.2 * duration_s,
                               .system_s = 0.7 * duration_s,
                               .voluntary_switches = trial.load->messages.verified / 40,
                               .involuntary_switches = 30,
                               .peak_memory_bytes = 9'000'000};
    if (!order.entry.contestant.external()) {
      static_cast<ChildFacts&>(trial.server) = trial.client;
      trial.server.engine = server.engine;
      trial.server.wait = server.wait;
      trial.server.threads = server.threads;
      trial.server.knobs = server.knobs;
      trial.server.socket = {{"nodelay", "true"}, {"congestion", "cubic"}, {"backlog", "4096"}};
      trial.server.bytes_received = trial.load->bytes.total_sent;
      trial.server.bytes_sent = trial.load->bytes.total_received;
    }
  }
  const bool alone = order.entry.in_process;
  trial.machine = MachineCpu{.user_s = (alone ? 0.1 : 0.3) * duration_s,
                             .system_s = (alone ? 0.5 : 1.1) * duration_s,
                             .idle_s = (alone ? 1.4 : 0.4) * duration_s,
                             .softirq_s = (alone ? 0.0 : 0.2) * duration_s};
  if (order.count_calls) {
    trial.client_calls = 2.0 * static_cast<double>(trial.load->messages.verified);
    if (!order.entry.in_process)
      trial.server_calls = 1.5 * static_cast<double>(trial.load->messages.verified);
  }
  return trial;
}

// The same of a lossy delivery, with so many of its requests lost.
inline void make_lossy(Trial& trial, std::uint64_t lost) {
  LoadResult::Messages& messages = trial.load->messages;
  messages.sent += lost;
  if (messages.due) *messages.due += lost;
  messages.lost = lost;
  messages.late = lost / 2;
  messages.duplicated = 0;
}

// Gives every contestant the trials its script says, without processes and without time.
class FakeRunner : public TrialRunner {
 public:
  using Script = std::function<Trial(const TrialOrder&, std::size_t nth)>;

  // Messages per second of a contestant by its name. `wobble` is added to the nth trial's throughput as a
  // fraction.
  std::map<std::string, double> throughput;
  double otherwise = 1e6;  // ceilings
  std::vector<double> wobble{0.0, 0.004, -0.003, 0.002, -0.001, 0.003, -0.002, 0.001, 0.002, -0.004};
  // When given it has the last word on a trial.
  std::function<void(const TrialOrder&, std::size_t nth, Trial&)> alter = [](const auto&, auto, auto&) {};

  std::vector<std::string> ran;  // names in the order they ran; "count NAME" for the counting pass

  Trial run(const TrialOrder& order) override {
    const std::string& name = order.entry.contestant.name;
    const std::string mine = order.load_case.name + "/" + name;
    const std::size_t nth = runs_[mine]++;
    ran.push_back(order.count_calls ? "count " + name : name);
    const std::string plain = name.substr(0, name.find(" (again)"));
    const auto found = throughput.find(plain);
    const double base = found == throughput.end() ? otherwise : found->second;
    // Each contestant wobbles in a phase of its own, or pairs would show no noise at all.
    const auto phase = static_cast<std::size_t>(std::accumulate(name.begin(), name.end(), 0) % 7);
    const double noise = wobble[(nth + phase) % wobble.size()];
    Trial trial = flawless_trial(order, base * (1 + noise));
    alter(order, nth, trial);
    return trial;
  }

 private:
  std::map<std::string, std::size_t> runs_;
};

}  // namespace joust::race
