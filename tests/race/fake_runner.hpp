// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "race/trial/runner.hpp"

namespace joust::race {

inline nlohmann::json latency_document(double typical, std::uint64_t samples) {
  return {{"mean", typical},      {"min", typical / 2},   {"p50", typical},     {"p75", typical * 1.2},
          {"p90", typical * 1.5}, {"p95", typical * 1.7}, {"p99", typical * 2}, {"p999", typical * 3},
          {"p9999", nullptr},     {"max", typical * 4},   {"samples", samples}};
}

// What a load child would have written for a flawless trial of `load` with this typical latency.
inline nlohmann::json load_document(const Case& one, const EngineChoice& client, double throughput,
                                    double latency) {
  const double duration_s =
      one.load.messages ? 1.0 : std::chrono::duration<double>(one.load.duration).count();
  const auto verified = static_cast<std::uint64_t>(throughput * duration_s);
  const std::uint64_t payload = one.load.payload.value_or(32);
  const std::uint64_t flying = one.load.messages ? 0 : one.load.connections;
  return {{"schema", "joust-load/1"},
          {"engine", client.engine},
          {"protocol", one.protocol},
          {"address", "127.0.0.1:40001"},
          {"threads", client.threads},
          {"wait", client.wait},
          {"knobs", client.knobs},
          {"build", {{"type", "Release"}, {"sanitizers", ""}, {"version", "0.1.0"}}},
          {"socket",
           {{"nodelay", true}, {"send_buffer", 87040}, {"receive_buffer", 131072}, {"congestion", "cubic"}}},
          {"plan",
           {{"connections", one.load.connections},
            {"messages", nullptr},
            {"duration_s", duration_s},
            {"warmup_s", 0.3},
            {"interval_s", 0},
            {"rate_per_s", one.load.open_loop() ? nlohmann::json(one.load.rate_per_s) : nullptr},
            {"arrivals", setting_text(load_setting("arrivals"), one.load)},
            {"phase", setting_text(load_setting("phase"), one.load)},
            {"depth", one.load.depth},
            {"request_timeout_s", 5},
            {"payload_bytes", payload}}},
          {"interrupted", false},
          {"connections", {{"ok", one.load.connections}, {"failed", 0}}},
          {"messages",
           {{"sent", verified + flying}, {"verified", verified}, {"failed", 0}, {"in_flight", flying}}},
          {"bytes",
           {{"sent", verified * payload},
            {"received", verified * payload},
            {"total_sent", verified * payload * 13 / 10},
            {"total_received", verified * payload * 13 / 10}}},
          {"duration_s", duration_s},
          {"throughput_per_s", throughput},
          {"latency_ns", latency_document(latency, verified)},
          {"slices", std::vector<double>(10, static_cast<double>(verified) / 10)},
          {"cpu", {{"user_s", 0.1 * duration_s}, {"system_s", 0.5 * duration_s}}},
          {"switches", {{"voluntary", verified / 50}, {"involuntary", 20}}},
          {"peak_memory_bytes", 12'000'000},
          {"errors", nlohmann::json::object()},
          {"messages_of_errors", nlohmann::json::array()}};
}

// In a closed loop the latency follows from the throughput. In an open loop it is as if the throughput were
// the server's capacity: the rate is kept.
inline nlohmann::json load_document(const Case& one, const EngineChoice& client, double throughput) {
  const double latency = 1e9 * static_cast<double>(one.load.connections) / throughput;
  if (!one.load.open_loop()) return load_document(one, client, throughput, latency);
  nlohmann::json document = load_document(one, client, one.load.rate_per_s, latency);
  nlohmann::json& messages = document["messages"];
  messages["due"] = messages["verified"];
  messages["unsent"] = 0;
  document["uncorrected_latency_ns"] = latency_document(0.9 * latency, messages["verified"]);
  document["send_lateness_ns"] = latency_document(5e3, messages["verified"]);
  for (const char* histogram : {"uncorrected_histogram_ns", "send_lateness_histogram_ns"})
    document[histogram] = nlohmann::json::array();
  return document;
}

// A flawless trial: the server busy to nine tenths of one of two CPUs, nothing stolen.
inline Trial flawless_trial(const TrialOrder& order, double throughput) {
  Trial trial;
  const nlohmann::json document = load_document(order.load_case, order.entry.contestant.client, throughput);
  trial.load = parse_load(document.dump()).value();
  const double duration_s = trial.load->duration_s;
  if (!order.entry.in_process) {
    const EngineChoice& server = order.entry.contestant.server;
    trial.server.usage = Usage{.user_s = 0.2 * duration_s,
                               .system_s = 0.7 * duration_s,
                               .voluntary_switches = trial.load->verified / 40,
                               .involuntary_switches = 30,
                               .peak_memory_bytes = 9'000'000};
    if (!order.entry.contestant.external()) {
      trial.server.engine = server.engine;
      trial.server.wait = server.wait;
      trial.server.threads = server.threads;
      trial.server.knobs = server.knobs;
      trial.server.build = trial.load->build;
      trial.server.socket = {{"nodelay", "true"}, {"congestion", "cubic"}, {"backlog", "4096"}};
      trial.server.bytes_received = trial.load->run_bytes_sent;
      trial.server.bytes_sent = trial.load->run_bytes_received;
    }
  }
  const bool alone = order.entry.in_process;
  trial.machine = MachineCpu{.user_s = (alone ? 0.1 : 0.3) * duration_s,
                             .system_s = (alone ? 0.5 : 1.1) * duration_s,
                             .idle_s = (alone ? 1.4 : 0.4) * duration_s,
                             .softirq_s = (alone ? 0.0 : 0.2) * duration_s};
  if (order.count_calls) {
    trial.client_calls = 2.0 * static_cast<double>(trial.load->verified);
    if (!order.entry.in_process) trial.server_calls = 1.5 * static_cast<double>(trial.load->verified);
  }
  return trial;
}

// The same of a lossy delivery, with so many of its requests lost.
inline void make_lossy(Trial& trial, std::uint64_t lost) {
  nlohmann::json document = nlohmann::json::parse(trial.load->document);
  nlohmann::json& messages = document["messages"];
  messages["sent"] = messages["sent"].get<std::uint64_t>() + lost;
  messages.update({{"lost", lost}, {"late", lost / 2}, {"duplicated", 0}});
  trial.load = parse_load(document.dump()).value();
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
