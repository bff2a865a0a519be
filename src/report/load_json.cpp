// SPDX-License-Identifier: MIT
#include "report/load_json.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "load/plan_json.hpp"
#include "report/facts_json.hpp"

namespace joust {
namespace {

using Json = nlohmann::ordered_json;

Json latency_json(const Histogram& latency) {
  static constexpr std::array<std::pair<const char*, double>, 7> kPercentiles{{{"p50", 0.5},
                                                                               {"p75", 0.75},
                                                                               {"p90", 0.9},
                                                                               {"p95", 0.95},
                                                                               {"p99", 0.99},
                                                                               {"p999", 0.999},
                                                                               {"p9999", 0.9999}}};
  Json json{{"mean", latency.mean()}, {"min", latency.min()}};
  for (const auto& [name, quantile] : kPercentiles) {
    const auto value = latency.percentile(quantile);
    json[name] = value ? Json(*value) : Json(nullptr);
  }
  json["max"] = latency.max();
  json["samples"] = latency.count();
  return json;
}

// Returns the ends of the window on the clock that all processes of the machine share.
Json window_json(const std::optional<LoadResult::Window>& window) {
  if (!window) return nullptr;
  return {{"from", window->from.time_since_epoch() / Duration(1)},
          {"to", window->to.time_since_epoch() / Duration(1)}};
}

// Returns the buckets by the values that percentile() reports, so that histograms of several trials can be
// merged and evaluated again.
Json histogram_json(const Histogram& latency) {
  Json json = Json::array();
  for (const Histogram::Bucket& bucket : latency.buckets())
    json.push_back({std::min(bucket.high_ns, latency.max()), bucket.count});
  return json;
}

Json errors_json(const LoadResult& result) {
  Json json = Json::object();
  for (std::size_t stage = 0; stage < kStages; ++stage)
    if (result.errors[stage] > 0)
      json[std::string(stage_name(static_cast<Stage>(stage)))] = result.errors[stage];
  return json;
}

}  // namespace

void add_load(Json& document, const LoadResult& result) {
  document["plan"] = plan_json(result.plan);
  document["interrupted"] = result.interrupted;
  document["connections"] = {{"ok", result.connections_ok},
                             {"failed", result.connections_failed},
                             {"answered", result.messages.answered},
                             {"never_answered", result.messages.never_answered}};
  document["reconnects"] = result.reconnects;
  document["handovers"] = result.handovers;
  document["messages"] = {{"sent", result.messages.sent},
                          {"verified", result.messages.verified},
                          {"failed", result.messages.failed},
                          {"in_flight", result.messages.in_flight}};
  if (result.lossy) {
    document["messages"]["lost"] = result.messages.lost;
    document["messages"]["late"] = result.messages.late;
    document["messages"]["duplicated"] = result.messages.duplicated;
  }
  if (result.plan.turns) document["messages"]["beside"] = result.messages.beside;
  if (result.plan.open_loop()) {
    document["messages"]["due"] = result.due();
    document["messages"]["unsent"] = result.unsent();
  }
  document["oldest_open_ns"] = result.messages.oldest_open.count();
  document["bytes"] = {{"sent", result.messages.bytes_sent},
                       {"received", result.messages.bytes_received},
                       {"total_sent", result.total_bytes_sent},
                       {"total_received", result.total_bytes_received}};
  document["window_ns"] = window_json(result.window);
  document["duration_s"] = result.duration_s;
  document["throughput_per_s"] = result.throughput_per_s;
  document["latency_ns"] = latency_json(result.latency);
  document["histogram_ns"] = histogram_json(result.latency);
  if (result.plan.open_loop()) {
    document["uncorrected_latency_ns"] = latency_json(result.uncorrected_latency);
    document["uncorrected_histogram_ns"] = histogram_json(result.uncorrected_latency);
    document["send_lateness_ns"] = latency_json(result.send_lateness);
    document["send_lateness_histogram_ns"] = histogram_json(result.send_lateness);
  }
  document["slices"] = result.slices;
  document["cpu"] = {{"user_s", result.usage.user_s}, {"system_s", result.usage.system_s}};
  document["switches"] = {{"voluntary", result.usage.voluntary_switches},
                          {"involuntary", result.usage.involuntary_switches}};
  document["peak_memory_bytes"] = result.usage.peak_memory_bytes;
  document["errors"] = errors_json(result);
  document["messages_of_errors"] = result.complaints;
  document["notes"] = result.notes;
  document["missing"] = result.missing;
  add_groups(document, result.groups);
}

}  // namespace joust
