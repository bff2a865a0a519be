// SPDX-License-Identifier: MIT
#include "load/result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <concepts>
#include <string_view>
#include <type_traits>

#include "base/document.hpp"
#include "load/settings.hpp"

namespace joust {
namespace {

constexpr std::size_t kSlices = 10;

// Returns the time after the window in which its replies are awaited. The requests of an open loop's window
// count even if they are answered after it, so it lasts until then. (The window of a turn does so by itself.)
Duration awaited_after(const LoadRun& run, Time closes) {
  if (!run.plan().open_loop() || run.plan().turns) return {};
  const auto last = run.recorder().replies_since(*run.opens()).last;
  return last ? std::max(Duration{}, Duration(*last - closes)) : Duration{};
}

// Returns the time that messages of a schedule stand for: each for the time until the next one, including the
// last message. Otherwise one message every two seconds would be a rate of thousands a second if it is the
// only one.
double time_of_schedule_s(const LoadPlan& plan, std::uint64_t messages) {
  const double gap_s = std::chrono::duration<double>(plan.mean_interval()).count();
  return static_cast<double>(messages) * gap_s / static_cast<double>(plan.connections);
}

double number_of(const Rare<std::uint64_t>& count) {
  return static_cast<double>(count.value_or(0));
}

// Returns the counts that a load of this kind has.
LoadResult::Messages messages_of(const LoadPlan& plan, bool lossy, const Recorder::Counts& counts) {
  LoadResult::Messages messages{.sent = counts.sent,
                                .verified = counts.verified,
                                .failed = counts.failed,
                                .in_flight = counts.in_flight};
  if (lossy) {
    messages.lost = counts.lost;
    messages.late = counts.late;
    messages.duplicated = counts.duplicated;
  }
  if (plan.turns) messages.beside = counts.beside;
  if (plan.open_loop()) {
    messages.due = counts.sent + counts.never_sent;
    messages.unsent = counts.unsent;
    messages.open_at_opening = counts.open_at_opening;
    messages.open_at_close = counts.open_at_close;
  }
  return messages;
}

}  // namespace

Usage LoadResult::usage() const {
  return {.user_s = cpu.user_s,
          .system_s = cpu.system_s,
          .voluntary_switches = switches.voluntary,
          .involuntary_switches = switches.involuntary,
          .peak_memory_bytes = peak_memory_bytes};
}

void LoadResult::set_usage(const Usage& usage) {
  cpu.user_s = usage.user_s;
  cpu.system_s = usage.system_s;
  switches = {.voluntary = usage.voluntary_switches, .involuntary = usage.involuntary_switches};
  peak_memory_bytes = usage.peak_memory_bytes;
}

// With latencies of L, R * L requests of a rate R are in flight, although nobody falls behind. Without a
// warm-up the window opens with none of them, so the requests that even the shortest latency keeps in flight
// are no growth. (A turn has a ramp before its window.)
double LoadResult::fell_behind() const {
  if (!plan.open_loop()) return 0;
  const bool cold = plan.warmup == Duration{} && !plan.turns;
  const double usual = cold ? plan.rate_per_s * static_cast<double>(latency_ns.min()) / 1e9 : 0;
  const double at_close = number_of(messages.open_at_close);
  double grown = at_close - number_of(messages.open_at_opening);
  if (grown > 0) grown = std::clamp(at_close - usual, 0.0, grown);
  return std::max(0.0, number_of(messages.unsent) + grown);
}

std::optional<double> LoadResult::achieved() const {
  if (!plan.open_loop() || due() == 0) return std::nullopt;
  return std::max(0.0, 1 - fell_behind() / static_cast<double>(due()));
}

std::optional<double> LoadResult::answered() const {
  const auto kept = achieved();
  if (!kept) return std::nullopt;
  const double without_reply = static_cast<double>(messages.failed) + number_of(messages.lost);
  return std::max(0.0, *kept - without_reply / static_cast<double>(due()));
}

bool LoadResult::kept_rate() const {
  if (!plan.open_loop() || due() == 0) return true;
  constexpr double kDeviations = 3;  // of the difference of two counts
  const double open = number_of(messages.open_at_opening) + number_of(messages.open_at_close);
  const double by_chance = kDeviations * std::sqrt(open);
  const double most = (1 - kKeptShare) * static_cast<double>(due());
  return number_of(messages.unsent) <= most && fell_behind() <= most + by_chance;
}

double LoadResult::rate_s() const {
  return std::max(duration_s, time_of_schedule_s(plan, messages.verified));
}

const ResultGroup* LoadResult::group(std::string_view name) const {
  const auto found = std::ranges::find(groups, name, &ResultGroup::name);
  return found == groups.end() ? nullptr : &*found;
}

std::optional<double> LoadResult::number(std::string_view group_name, std::string_view name) const {
  const ResultGroup* const found = group(group_name);
  if (found == nullptr) return std::nullopt;
  for (const auto& [key, figure] : found->figures) {
    if (key != name) continue;
    if (const auto* count = std::get_if<std::uint64_t>(&figure)) return static_cast<double>(*count);
    if (const auto* number = std::get_if<double>(&figure)) return *number;
  }
  return std::nullopt;
}

LoadResult no_result(const LoadPlan& plan) {
  LoadResult result;
  result.plan = plan;
  result.messages = messages_of(plan, false, {});
  if (plan.open_loop()) {
    result.uncorrected_latency_ns.emplace();
    result.send_lateness_ns.emplace();
  }
  return result;
}

LoadResult conclude(const LoadRun& run, const Usage& usage, bool interrupted, Time ended) {
  const Recorder::Counts counts = run.recorder().counts();
  LoadResult result = no_result(run.plan());
  result.interrupted = interrupted;
  result.connections = {.ok = run.plan().connections - run.connections_failed(),
                        .failed = run.connections_failed(),
                        .answered = counts.answered,
                        .never_answered = counts.never_answered};
  result.reconnects = run.reconnects();
  result.handovers = run.handovers();
  result.messages = messages_of(run.plan(), run.lossy(), counts);
  result.oldest_open_ns = counts.oldest_open;
  result.bytes.sent = counts.bytes_sent;
  result.bytes.received = counts.bytes_received;
  result.latency_ns = run.recorder().latencies();
  if (run.plan().open_loop()) {
    result.uncorrected_latency_ns = run.recorder().uncorrected_latencies();
    result.send_lateness_ns = run.recorder().send_lateness();
  }
  result.set_usage(usage);
  result.messages_of_errors = run.complaints();
  for (std::size_t stage = 0; stage < kStages; ++stage)
    result.errors[stage] = run.failures(static_cast<Stage>(stage));
  const Time opens = run.opens().value_or(ended);
  const Time closes = std::min(run.closes().value_or(ended), ended);
  const Duration open = run.windows(ended);
  if (open > Duration{}) {
    result.window_ns = {run.first_opens().value_or(opens), closes};
    result.duration_s = std::chrono::duration<double>(open + awaited_after(run, closes)).count();
    result.throughput_per_s = static_cast<double>(result.messages.verified) / result.rate_s();
    result.slices = run.recorder().parts(open, kSlices);
  }
  return result;
}

namespace {

constexpr std::size_t kMostTexts = 8;  // of each part; the parts are few

// The members of which the greatest is that of the whole. Most others are added.
constexpr std::string_view kGreatest[] = {"oldest_open_ns", "duration_s", "over_s"};

void add(std::vector<std::string>& sum, const std::vector<std::string>& more) {
  for (std::size_t i = 0; i < std::min(more.size(), kMostTexts); ++i)
    if (std::ranges::find(sum, more[i]) == sum.end()) sum.push_back(more[i]);
}

void add(std::vector<std::uint64_t>& sum, const std::vector<std::uint64_t>& more) {
  sum.resize(std::max(sum.size(), more.size()));
  for (std::size_t i = 0; i < more.size(); ++i) sum[i] += more[i];
}

void add(decltype(LoadResult::errors)& sum, const decltype(LoadResult::errors)& more) {
  for (std::size_t stage = 0; stage < kStages; ++stage) sum[stage] += more[stage];
}

// Keeps the counts of all parts that have them.
void add(std::vector<ResultGroup>& sum, const std::vector<ResultGroup>& more) {
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

// The window is that of the first part that has one.
void add(std::optional<LoadResult::Window>& sum, const std::optional<LoadResult::Window>& more) {
  if (!sum) sum = more;
}

void add(LoadPlan& sum, const LoadPlan& more) {
  sum.connections += more.connections;
  sum.rate_per_s += more.rate_per_s;
}

void add(Distribution& sum, const Distribution& more) {
  sum.merge(more);
}

void add(bool& sum, bool more) {
  sum |= more;
}

template <typename T>
void add_member(std::string_view name, T& sum, const T& more) {
  if constexpr (std::same_as<T, Duration> || (std::is_arithmetic_v<T> && !std::same_as<T, bool>)) {
    sum = std::ranges::count(kGreatest, name) > 0 ? std::max(sum, more) : sum + more;
  } else if constexpr (requires { add(sum, more); }) {
    add(sum, more);
  } else if constexpr (documents::kIsRare<T>) {
    if (more && sum) add_member(name, *sum, *more);
    if (more && !sum) sum = more;
  } else {
    each_field_of(sum, more, [](std::string_view key, auto& to, const auto& from) {
      add_member<std::remove_cvref_t<decltype(to)>>(key, to, from);
    });
  }
}

}  // namespace

LoadResult merged(std::span<const LoadPart> parts) {
  assert(!parts.empty());
  LoadResult sum;
  sum.plan = parts.front().result.plan;
  sum.plan.connections = 0;
  sum.plan.rate_per_s = 0;
  for (const LoadPart& part : parts) {
    LoadResult more = part.result;
    if (!part.name.empty())
      for (std::string& text : more.messages_of_errors) text = part.name + ": " + text;
    add_member("", sum, more);
  }
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
