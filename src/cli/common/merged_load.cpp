// SPDX-License-Identifier: MIT
#include "cli/common/merged_load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#include "base/document.hpp"
#include "base/units.hpp"
#include "cli/common/output.hpp"
#include "load/result.hpp"
#include "load/result_json.hpp"
#include "report/text.hpp"

namespace joust {
namespace {

using Json = nlohmann::ordered_json;

// The key of the time at which the window of a load opened, by the host's own clock of the day.
constexpr const char* kWindowUtc = "window_utc_ns";

Json number_or_null(const std::optional<std::int64_t>& number) {
  return number ? Json(*number) : Json(nullptr);
}

Json host_json(const LoadOfHost& host, const std::optional<std::int64_t>& first_ns) {
  std::optional<std::int64_t> after;
  if (host.opened_ns && first_ns) after = *host.opened_ns - *first_ns;
  return {{"name", host.name},
          {"connections", host.result.plan.connections},
          {"verified", host.result.messages.verified},
          {"throughput_per_s", host.result.throughput_per_s},
          {"started_after_ns", number_or_null(after)},
          {"clock_offset_ns", number_or_null(host.clock_offset_ns)},
          {"clock_error_ns", number_or_null(host.clock_error_ns)},
          {"trouble", host.trouble.empty() ? Json(nullptr) : Json(host.trouble)}};
}

// When the windows opened, in order.
std::vector<std::int64_t> opened(std::span<const LoadOfHost> hosts) {
  std::vector<std::int64_t> times;
  for (const LoadOfHost& host : hosts)
    if (host.opened_ns) times.push_back(*host.opened_ns);
  std::ranges::sort(times);
  return times;
}

std::optional<std::int64_t> first_of(const std::vector<std::int64_t>& times) {
  return times.empty() ? std::nullopt : std::optional(times.front());
}

}  // namespace

std::string read_part(LoadOfHost& host) {
  auto read = load_from(host.document);
  if (!read) return read.error();
  host.result = std::move(*read);
  return {};
}

std::optional<LoadOfHost> read_load_file(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  Json document = documents::parsed(std::string(std::istreambuf_iterator<char>(file), {}));
  if (!document.is_object() || document.value("schema", Json()) != "joust-load/1") return std::nullopt;
  LoadOfHost host{.name = path, .document = std::move(document)};
  host.trouble = read_part(host);
  const auto opened = host.document.find(kWindowUtc);
  if (opened != host.document.end() && opened->is_number_integer())
    host.opened_ns = opened->get<std::int64_t>();
  return host;
}

WholeLoad merged_load(std::span<const LoadOfHost> hosts) {
  std::vector<LoadPart> parts;
  WholeLoad whole;
  for (const LoadOfHost& host : hosts) {
    parts.push_back({.name = host.name, .result = host.result});
    if (!host.trouble.empty()) parts.back().result.messages_of_errors.push_back(host.trouble);
    if (whole.document.is_null()) whole.document = host.document;
  }
  whole.result = merged(parts);
  const auto starts = opened(hosts);
  if (starts.size() > 1) whole.start_spread_ns = starts.back() - starts.front();
  // The groups of the first document are replaced, also those that the whole has not.
  for (const ResultGroup& group : hosts.front().result.groups) whole.document.erase(group.name);
  add_load(whole.document, whole.result);
  const auto first_ns = first_of(starts);
  Json rows = Json::array();
  for (const LoadOfHost& host : hosts) rows.push_back(host_json(host, first_ns));
  whole.document["hosts"] = std::move(rows);
  whole.document["start_spread_ns"] = number_or_null(whole.start_spread_ns);
  return whole;
}

std::string hosts_text(const WholeLoad& whole, std::span<const LoadOfHost> hosts) {
  const auto first_ns = first_of(opened(hosts));
  std::vector<std::vector<std::string>> rows{{"HOST", "CONNECTIONS", "MESSAGES/S", "STARTED", "CLOCK"}};
  std::string troubles;
  for (const LoadOfHost& host : hosts) {
    const std::string started =
        host.opened_ns && first_ns ? "+" + format_duration(Duration(*host.opened_ns - *first_ns)) : "-";
    const std::string clock = host.clock_error_ns
                                  ? fmt::format("{} +-{}", format_duration(Duration(*host.clock_offset_ns)),
                                                format_duration(Duration(*host.clock_error_ns)))
                                  : "-";
    rows.push_back({host.name, report::grouped(host.result.connections.ok),
                    report::plain_number(host.result.throughput_per_s), started, clock});
    if (!host.trouble.empty()) troubles += fmt::format("{}: {}\n", host.name, host.trouble);
  }
  const std::string spread =
      whole.start_spread_ns
          ? fmt::format("All started within {}.\n", format_duration(Duration(*whole.start_spread_ns)))
          : "When each host has started is not known.\n";
  return columns(rows) + spread + troubles;
}

}  // namespace joust
