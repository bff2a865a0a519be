// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "race/model/result.hpp"
#include "race/trial/child_json.hpp"

namespace joust::race {

using nlohmann::json;

Settings settings_from(const json& object) {
  Settings settings;
  for (const auto& [key, value] : object.items())
    settings[key] = value.is_string() ? value.get<std::string>() : value.dump();
  return settings;
}

BuildInfo build_from(const json& object) {
  return {.type = object.value("type", ""),
          .sanitizers = object.value("sanitizers", ""),
          .version = object.value("version", "")};
}

std::map<std::string, std::uint64_t> counts_from(const json& object) {
  std::map<std::string, std::uint64_t> counts;
  for (const auto& [key, value] : object.items()) counts[key] = value.get<std::uint64_t>();
  return counts;
}

namespace {

template <typename Number>
std::optional<Number> or_none(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::nullopt;
  return found->get<Number>();
}

std::optional<double> number_or_none(const json& object, const char* key) {
  return or_none<double>(object, key);
}

Latency latency_from(const json& object) {
  return {.mean = number_or_none(object, "mean"),
          .p50 = number_or_none(object, "p50"),
          .p90 = number_or_none(object, "p90"),
          .p99 = number_or_none(object, "p99"),
          .p999 = number_or_none(object, "p999"),
          .max = number_or_none(object, "max"),
          .samples = object.at("samples")};
}

// Reads the schedule's figures. Returns nothing for the document of a closed loop.
std::optional<ScheduleResult> schedule_from(const json& document) {
  const auto lateness = document.find("send_lateness_ns");
  if (lateness == document.end() || lateness->is_null()) return std::nullopt;
  const json& messages = document.at("messages");
  return ScheduleResult{
      .rate_per_s = document.at("plan").at("rate_per_s"),
      .due = messages.at("due"),
      .unsent = messages.at("unsent"),
      .uncorrected_ns = latency_from(document.at("uncorrected_latency_ns")),
      .lateness_ns = latency_from(*lateness),
      .uncorrected_histogram_ns = document.value("uncorrected_histogram_ns", LatencyCounts{}),
      .lateness_histogram_ns = document.value("send_lateness_histogram_ns", LatencyCounts{})};
}

Usage client_usage(const json& document) {
  const json switches = document.value("switches", json::object());
  return {.user_s = document.at("cpu").at("user_s"),
          .system_s = document.at("cpu").at("system_s"),
          .voluntary_switches = switches.value("voluntary", std::uint64_t{0}),
          .involuntary_switches = switches.value("involuntary", std::uint64_t{0}),
          .peak_memory_bytes = document.at("peak_memory_bytes")};
}

void read_traffic(const json& document, LoadResult& load) {
  load.connections_ok = document.at("connections").at("ok");
  load.connections_failed = document.at("connections").at("failed");
  load.connections_answered = or_none<std::uint64_t>(document.at("connections"), "answered");
  load.never_answered = or_none<std::uint64_t>(document.at("connections"), "never_answered");
  load.handovers = document.value("handovers", std::uint64_t{0});
  load.oldest_open_ns = or_none<std::uint64_t>(document, "oldest_open_ns");
  const json& messages = document.at("messages");
  load.sent = messages.at("sent");
  load.verified = messages.at("verified");
  load.beside = messages.value("beside", std::uint64_t{0});
  load.failed = messages.at("failed");
  load.lost = or_none<std::uint64_t>(messages, "lost");
  load.in_flight = messages.at("in_flight");
  const json& bytes = document.at("bytes");
  load.bytes_sent = bytes.at("sent");
  load.bytes_received = bytes.at("received");
  load.run_bytes_sent = bytes.at("total_sent");
  load.run_bytes_received = bytes.at("total_received");
}

void read_identity(const json& document, LoadResult& load) {
  load.engine = document.at("engine");
  load.threads = document.value("threads", std::uint64_t{1});
  load.wait = document.value("wait", "");
  load.knobs = settings_from(document.value("knobs", json::object()));
  load.build = build_from(document.value("build", json::object()));
  load.socket = settings_from(document.value("socket", json::object()));
}

}  // namespace

std::expected<LoadResult, std::string> parse_load(const std::string& text) {
  try {
    const json document = json::parse(text);
    LoadResult load;
    load.document = text;
    read_identity(document, load);
    read_traffic(document, load);
    load.duration_s = document.at("duration_s");
    load.throughput_per_s = document.at("throughput_per_s");
    load.mb_per_s = number_or_none(document.value("transfer", json::object()), "mb_per_s");
    if (const json window = document.value("window_ns", json()); window.is_object())
      load.window_ns = TimedWindow{.from = window.at("from"), .to = window.at("to")};
    load.latency_ns = latency_from(document.at("latency_ns"));
    load.histogram_ns = document.value("histogram_ns", decltype(load.histogram_ns){});
    load.schedule = schedule_from(document);
    load.slices = document.value("slices", std::vector<double>{});
    load.usage = client_usage(document);
    load.errors = counts_from(document.value("errors", json::object()));
    load.messages_of_errors = document.value("messages_of_errors", std::vector<std::string>{});
    load.deliveries = counts_from(document.value("deliveries", json::object()));
    load.missing = document.value("missing", std::vector<std::string>{});
    load.notes = document.value("notes", std::vector<std::string>{});
    return load;
  } catch (const json::exception& error) {
    return std::unexpected(fmt::format("the load's result cannot be read: {}", error.what()));
  }
}

}  // namespace joust::race
