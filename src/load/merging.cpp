// SPDX-License-Identifier: MIT
#include "load/merging.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "load/settings.hpp"

namespace joust {
namespace {

constexpr std::size_t kMostComplaints = 8;  // of each part; the parts are few

void add(Recorder::Counts& sum, const Recorder::Counts& more) {
  sum.sent += more.sent;
  sum.verified += more.verified;
  sum.latency_sum_ns += more.latency_sum_ns;
  sum.failed += more.failed;
  sum.in_flight += more.in_flight;
  sum.answered += more.answered;
  sum.never_answered += more.never_answered;
  sum.bytes_sent += more.bytes_sent;
  sum.bytes_received += more.bytes_received;
  sum.lost += more.lost;
  sum.late += more.late;
  sum.duplicated += more.duplicated;
  sum.beside += more.beside;
  sum.unsent += more.unsent;
  sum.never_sent += more.never_sent;
  sum.open_at_opening += more.open_at_opening;
  sum.open_at_close += more.open_at_close;
  sum.oldest_open = std::max(sum.oldest_open, more.oldest_open);
}

void add_slices(std::vector<std::uint64_t>& sum, const std::vector<std::uint64_t>& more) {
  sum.resize(std::max(sum.size(), more.size()));
  for (std::size_t i = 0; i < more.size(); ++i) sum[i] += more[i];
}

void add_texts(std::vector<std::string>& sum, const std::vector<std::string>& more, const std::string& name) {
  for (std::size_t i = 0; i < std::min(more.size(), kMostComplaints); ++i) {
    std::string text = name.empty() ? more[i] : name + ": " + more[i];
    if (std::ranges::find(sum, text) == sum.end()) sum.push_back(std::move(text));
  }
}

// Keeps the counts of all parts that have them.
void add_groups(std::vector<ResultGroup>& sum, const std::vector<ResultGroup>& more) {
  for (const ResultGroup& group : more) {
    auto into = std::ranges::find(sum, group.name, &ResultGroup::name);
    if (into == sum.end()) into = sum.insert(sum.end(), ResultGroup{.name = group.name, .figures = {}});
    for (const auto& [name, figure] : group.figures) {
      const auto* count = std::get_if<std::uint64_t>(&figure);
      if (count == nullptr) continue;
      const auto known =
          std::ranges::find_if(into->figures, [&](const auto& one) { return one.first == name; });
      if (known == into->figures.end())
        into->figures.emplace_back(name, *count);
      else
        known->second = std::get<std::uint64_t>(known->second) + *count;
    }
  }
}

void add(LoadResult& sum, const LoadPart& part) {
  const LoadResult& more = part.result;
  sum.plan.connections += more.plan.connections;
  sum.plan.rate_per_s += more.plan.rate_per_s;
  sum.interrupted |= more.interrupted;
  sum.connections_ok += more.connections_ok;
  sum.connections_failed += more.connections_failed;
  sum.reconnects += more.reconnects;
  sum.handovers += more.handovers;
  sum.unverified |= more.unverified;
  sum.lossy |= more.lossy;
  add(sum.messages, more.messages);
  sum.total_bytes_sent += more.total_bytes_sent;
  sum.total_bytes_received += more.total_bytes_received;
  if (!sum.window) sum.window = more.window;
  sum.duration_s = std::max(sum.duration_s, more.duration_s);
  sum.latency.merge(more.latency);
  sum.uncorrected_latency.merge(more.uncorrected_latency);
  sum.send_lateness.merge(more.send_lateness);
  add_slices(sum.slices, more.slices);
  const std::uint64_t peak = sum.usage.peak_memory_bytes + more.usage.peak_memory_bytes;
  sum.usage = sum.usage + more.usage;
  sum.usage.peak_memory_bytes = peak;
  sum.usage_s = std::max(sum.usage_s, more.usage_s);
  for (std::size_t stage = 0; stage < kStages; ++stage) sum.errors[stage] += more.errors[stage];
  add_texts(sum.complaints, more.complaints, part.name);
  add_texts(sum.notes, more.notes, {});
  add_texts(sum.missing, more.missing, {});
  add_groups(sum.groups, more.groups);
}

}  // namespace

LoadResult merged(std::span<const LoadPart> parts) {
  assert(!parts.empty());
  LoadResult sum;
  sum.plan = parts.front().result.plan;
  sum.plan.connections = 0;
  sum.plan.rate_per_s = 0;
  for (const LoadPart& part : parts) add(sum, part);
  sum.throughput_per_s = sum.rate_s() > 0 ? static_cast<double>(sum.messages.verified) / sum.rate_s() : 0;
  return sum;
}

std::string why_no_parts(const LoadPart& one, const LoadPart& other) {
  for (const LoadSetting& setting : load_settings()) {
    if (setting.key == "connections" || setting.key == "rate" || setting.key == "seed") continue;
    const std::string here = setting_text(setting, one.result.plan),
                      there = setting_text(setting, other.result.plan);
    if (here != there)
      return fmt::format("{} is {} in {} and {} in {}", setting.key, here.empty() ? "not set" : here,
                         one.name, there.empty() ? "not set" : there, other.name);
  }
  if (one.result.plan.open_loop() != other.result.plan.open_loop())
    return fmt::format("only one of {} and {} has a rate", one.name, other.name);
  return {};
}

}  // namespace joust
