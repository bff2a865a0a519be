// SPDX-License-Identifier: MIT
#include "load/result_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "base/error_words.hpp"
#include "load/plan_json.hpp"
#include "measure/histogram.hpp"

namespace joust {
namespace {

using Json = nlohmann::ordered_json;

// The content of a key of a document: numbers of the result, which are from 0 on, or something else.
enum class Holds : std::uint8_t { numbers, other };

// The keys of a document that are no groups of figures: those of the result, and those of the program.
const std::map<std::string_view, Holds> kOtherKeys{{"schema", Holds::other},
                                                   {"protocol", Holds::other},
                                                   {"plugin", Holds::other},
                                                   {"address", Holds::other},
                                                   {"engine", Holds::other},
                                                   {"threads", Holds::other},
                                                   {"wait", Holds::other},
                                                   {"knobs", Holds::other},
                                                   {"build", Holds::other},
                                                   {"socket", Holds::other},
                                                   {"options", Holds::other},
                                                   {"plan", Holds::other},
                                                   {"interrupted", Holds::other},
                                                   {"connections", Holds::numbers},
                                                   {"reconnects", Holds::numbers},
                                                   {"handovers", Holds::numbers},
                                                   {"messages", Holds::numbers},
                                                   {"oldest_open_ns", Holds::numbers},
                                                   {"bytes", Holds::numbers},
                                                   {"window_ns", Holds::numbers},
                                                   {"window_utc_ns", Holds::other},
                                                   {"hosts", Holds::other},
                                                   {"start_spread_ns", Holds::other},
                                                   {"duration_s", Holds::numbers},
                                                   {"throughput_per_s", Holds::numbers},
                                                   {"latency_ns", Holds::numbers},
                                                   {"histogram_ns", Holds::numbers},
                                                   {"uncorrected_latency_ns", Holds::numbers},
                                                   {"uncorrected_histogram_ns", Holds::numbers},
                                                   {"send_lateness_ns", Holds::numbers},
                                                   {"send_lateness_histogram_ns", Holds::numbers},
                                                   {"slices", Holds::numbers},
                                                   {"cpu", Holds::numbers},
                                                   {"switches", Holds::numbers},
                                                   {"peak_memory_bytes", Holds::numbers},
                                                   {"errors", Holds::numbers},
                                                   {"messages_of_errors", Holds::other},
                                                   {"notes", Holds::other},
                                                   {"missing", Holds::other}};

Json latency_json(const Distribution& latency) {
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

// Returns whether a number is measured, and not counted.
bool is_measured(const std::string& key) {
  return key.ends_with("_s") || key == "mean";
}

// Throws std::invalid_argument for a number that no load has: whoever adds results would make nonsense of it.
void check_numbers(const std::string& path, const std::string& key, const Json& value) {
  constexpr double kMost = 1e18;
  if (value.is_structured())
    for (const auto& [name, member] : value.items())
      check_numbers(value.is_array() ? fmt::format("{}[{}]", path, name) : path + "." + name,
                    value.is_array() ? key : name, member);
  if (!value.is_number()) return;
  const auto number = value.get<double>();
  if (!(number >= 0 && number <= kMost))
    throw std::invalid_argument(fmt::format("{}: is {}, and should be from 0 to 1e18", path, value.dump()));
  if (!is_measured(key) && value.is_number_float())
    throw std::invalid_argument(fmt::format("{}: is {}, and should be a whole number", path, value.dump()));
}

// Returns the buckets by the values that percentile() reports.
Json histogram_json(const Distribution& latency) {
  Json json = Json::array();
  for (const Distribution::Bucket& bucket : latency.buckets())
    json.push_back({std::min(bucket.high_ns, latency.max()), bucket.count});
  return json;
}

// Adds a distribution: its figures, and its buckets.
void add_distribution(Json& document, const std::string& latency_key, const std::string& histogram_key,
                      const Distribution& distribution) {
  document[latency_key] = latency_json(distribution);
  document[histogram_key] = histogram_json(distribution);
}

// The sum is that of the mean. It is exact up to 2^52 ns, 52 days of latencies together.
Distribution distribution_from(const Json& document, const char* latency_key, const char* histogram_key) {
  const Json& figures = document.at(latency_key);
  std::vector<Distribution::Bucket> buckets;
  std::uint64_t count = 0;
  for (const Json& bucket : document.at(histogram_key)) {
    buckets.push_back(Histogram::bucket_with(bucket.at(0), bucket.at(1)));
    count += buckets.back().count;
  }
  const double sum_ns = figures.at("mean").get<double>() * static_cast<double>(count);
  return {std::move(buckets), figures.at("min"), figures.at("max"),
          static_cast<std::uint64_t>(std::llround(sum_ns))};
}

// Returns the ends of the window on the clock that all processes of the machine share.
Json window_json(const std::optional<LoadResult::Window>& window) {
  if (!window) return nullptr;
  return {{"from", window->from.time_since_epoch() / Duration(1)},
          {"to", window->to.time_since_epoch() / Duration(1)}};
}

std::optional<LoadResult::Window> window_from(const Json& window) {
  if (window.is_null()) return std::nullopt;
  return LoadResult::Window{.from = Time(Duration(window.at("from").get<std::int64_t>())),
                            .to = Time(Duration(window.at("to").get<std::int64_t>()))};
}

Json errors_json(const LoadResult& result) {
  Json json = Json::object();
  for (std::size_t stage = 0; stage < kStages; ++stage)
    if (result.errors[stage] > 0)
      json[std::string(stage_name(static_cast<Stage>(stage)))] = result.errors[stage];
  return json;
}

void read_errors(const Json& errors, LoadResult& result) {
  for (const auto& [name, count] : errors.items()) {
    std::size_t stage = 0;
    while (stage < kStages && stage_name(static_cast<Stage>(stage)) != name) ++stage;
    if (stage == kStages) throw std::invalid_argument(fmt::format("errors: '{}' is no stage", name));
    result.errors[stage] = count;
  }
}

Json messages_json(const LoadResult& result) {
  const Recorder::Counts& counts = result.messages;
  Json json{{"sent", counts.sent},
            {"verified", counts.verified},
            {"failed", counts.failed},
            {"in_flight", counts.in_flight}};
  if (result.unverified) json["unverified"] = true;
  if (result.lossy) {
    json["lost"] = counts.lost;
    json["late"] = counts.late;
    json["duplicated"] = counts.duplicated;
  }
  if (result.plan.turns) json["beside"] = counts.beside;
  if (result.plan.open_loop()) {
    json["due"] = result.due();
    json["unsent"] = counts.unsent;
    json["open_at_opening"] = counts.open_at_opening;
    json["open_at_close"] = counts.open_at_close;
  }
  return json;
}

void read_messages(const Json& json, LoadResult& result) {
  Recorder::Counts& counts = result.messages;
  counts.sent = json.at("sent");
  counts.verified = json.at("verified");
  counts.failed = json.at("failed");
  counts.in_flight = json.at("in_flight");
  result.unverified = json.contains("unverified");
  result.lossy = json.contains("lost");
  if (result.lossy) {
    counts.lost = json.at("lost");
    counts.late = json.at("late");
    counts.duplicated = json.at("duplicated");
  }
  result.plan.turns = json.contains("beside");
  if (result.plan.turns) counts.beside = json.at("beside");
  if (result.plan.open_loop()) {
    const std::uint64_t due = json.at("due");
    if (due < counts.sent) throw std::invalid_argument("messages: fewer were due than sent");
    counts.never_sent = due - counts.sent;
    counts.unsent = json.at("unsent");
    counts.open_at_opening = json.at("open_at_opening");
    counts.open_at_close = json.at("open_at_close");
  }
}

ResultGroup::Figure figure_from(const Json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (value.is_number()) return value.get<double>();
  return value.get<std::string>();
}

std::vector<ResultGroup> groups_from(const Json& document) {
  std::vector<ResultGroup> groups;
  for (const auto& [key, value] : document.items()) {
    if (kOtherKeys.contains(key)) continue;
    ResultGroup group{.name = key, .figures = {}};
    for (const auto& [name, figure] : value.items()) group.figures.emplace_back(name, figure_from(figure));
    groups.push_back(std::move(group));
  }
  return groups;
}

LoadResult read(const Json& document) {
  for (const auto& [key, value] : document.items())
    if (const auto known = kOtherKeys.find(key); known != kOtherKeys.end() && known->second == Holds::numbers)
      check_numbers(key, key, value);
  LoadResult result;
  auto plan = plan_from(document.at("plan").dump());
  if (!plan) throw std::invalid_argument("plan: " + plan.error());
  result.plan = *plan;
  result.interrupted = document.at("interrupted");
  const Json& connections = document.at("connections");
  result.connections_ok = connections.at("ok");
  result.connections_failed = connections.at("failed");
  result.reconnects = document.at("reconnects");
  result.handovers = document.at("handovers");
  read_messages(document.at("messages"), result);
  result.messages.answered = connections.at("answered");
  result.messages.never_answered = connections.at("never_answered");
  result.messages.oldest_open = Duration(document.at("oldest_open_ns").get<std::int64_t>());
  const Json& bytes = document.at("bytes");
  result.messages.bytes_sent = bytes.at("sent");
  result.messages.bytes_received = bytes.at("received");
  result.total_bytes_sent = bytes.at("total_sent");
  result.total_bytes_received = bytes.at("total_received");
  result.window = window_from(document.at("window_ns"));
  result.duration_s = document.at("duration_s");
  result.throughput_per_s = document.at("throughput_per_s");
  result.latency = distribution_from(document, "latency_ns", "histogram_ns");
  if (result.plan.open_loop()) {
    result.uncorrected_latency =
        distribution_from(document, "uncorrected_latency_ns", "uncorrected_histogram_ns");
    result.send_lateness = distribution_from(document, "send_lateness_ns", "send_lateness_histogram_ns");
  }
  result.slices = document.at("slices").get<std::vector<std::uint64_t>>();
  const Json& cpu = document.at("cpu");
  const Json& switches = document.at("switches");
  result.usage = {.user_s = cpu.at("user_s"),
                  .system_s = cpu.at("system_s"),
                  .voluntary_switches = switches.at("voluntary"),
                  .involuntary_switches = switches.at("involuntary"),
                  .peak_memory_bytes = document.at("peak_memory_bytes")};
  result.usage_s = cpu.at("over_s");
  read_errors(document.at("errors"), result);
  result.complaints = document.at("messages_of_errors").get<std::vector<std::string>>();
  result.notes = document.at("notes").get<std::vector<std::string>>();
  result.missing = document.at("missing").get<std::vector<std::string>>();
  result.groups = groups_from(document);
  return result;
}

}  // namespace

void add_groups(Json& document, const std::vector<ResultGroup>& groups) {
  for (const ResultGroup& group : groups)
    for (const auto& [name, figure] : group.figures)
      std::visit([&](const auto& value) { document[group.name][name] = value; }, figure);
}

void add_load(Json& document, const LoadResult& result) {
  document["plan"] = plan_json(result.plan);
  document["interrupted"] = result.interrupted;
  document["connections"] = {{"ok", result.connections_ok},
                             {"failed", result.connections_failed},
                             {"answered", result.messages.answered},
                             {"never_answered", result.messages.never_answered}};
  document["reconnects"] = result.reconnects;
  document["handovers"] = result.handovers;
  document["messages"] = messages_json(result);
  document["oldest_open_ns"] = result.messages.oldest_open.count();
  document["bytes"] = {{"sent", result.messages.bytes_sent},
                       {"received", result.messages.bytes_received},
                       {"total_sent", result.total_bytes_sent},
                       {"total_received", result.total_bytes_received}};
  document["window_ns"] = window_json(result.window);
  document["duration_s"] = result.duration_s;
  document["throughput_per_s"] = result.throughput_per_s;
  add_distribution(document, "latency_ns", "histogram_ns", result.latency);
  if (result.plan.open_loop()) {
    add_distribution(document, "uncorrected_latency_ns", "uncorrected_histogram_ns",
                     result.uncorrected_latency);
    add_distribution(document, "send_lateness_ns", "send_lateness_histogram_ns", result.send_lateness);
  }
  document["slices"] = result.slices;
  document["cpu"] = {
      {"user_s", result.usage.user_s}, {"system_s", result.usage.system_s}, {"over_s", result.usage_s}};
  document["switches"] = {{"voluntary", result.usage.voluntary_switches},
                          {"involuntary", result.usage.involuntary_switches}};
  document["peak_memory_bytes"] = result.usage.peak_memory_bytes;
  document["errors"] = errors_json(result);
  document["messages_of_errors"] = result.complaints;
  document["notes"] = result.notes;
  document["missing"] = result.missing;
  add_groups(document, result.groups);
}

std::expected<LoadResult, std::string> load_from(const Json& document) {
  try {
    return read(document);
  } catch (const Json::exception& error) {  // "[json.exception.type_error.302] type must be ..."
    return std::unexpected(fmt::format(
        "the load's result cannot be read: a member is missing, or is of another kind: {}", words_of(error)));
  } catch (const std::exception& error) {  // a value that is wrong
    return std::unexpected(fmt::format("the load's result cannot be read: {}", error.what()));
  }
}

}  // namespace joust
