// SPDX-License-Identifier: MIT
#include "load/result.hpp"

#include <algorithm>
#include <cmath>

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

}  // namespace

// With latencies of L, R * L requests of a rate R are in flight, although nobody falls behind. Without a
// warm-up the window opens with none of them, so the requests that even the shortest latency keeps in flight
// are no growth. (A turn has a ramp before its window.)
double LoadResult::fell_behind() const {
  if (!plan.open_loop()) return 0;
  const bool cold = plan.warmup == Duration{} && !plan.turns;
  const double usual = cold ? plan.rate_per_s * static_cast<double>(latency.min()) / 1e9 : 0;
  double grown = static_cast<double>(messages.open_at_close) - static_cast<double>(messages.open_at_opening);
  if (grown > 0) grown = std::clamp(static_cast<double>(messages.open_at_close) - usual, 0.0, grown);
  return std::max(0.0, static_cast<double>(messages.unsent) + grown);
}

std::optional<double> LoadResult::achieved() const {
  if (!plan.open_loop() || due() == 0) return std::nullopt;
  return std::max(0.0, 1 - fell_behind() / static_cast<double>(due()));
}

std::optional<double> LoadResult::answered() const {
  const auto kept = achieved();
  if (!kept) return std::nullopt;
  const auto without_reply = static_cast<double>(messages.failed + messages.lost);
  return std::max(0.0, *kept - without_reply / static_cast<double>(due()));
}

bool LoadResult::kept_rate() const {
  if (!plan.open_loop() || due() == 0) return true;
  constexpr double kDeviations = 3;  // of the difference of two counts
  const auto open = static_cast<double>(messages.open_at_opening + messages.open_at_close);
  const double by_chance = kDeviations * std::sqrt(open);
  const double unsent = static_cast<double>(messages.unsent),
               most = (1 - kKeptShare) * static_cast<double>(due());
  return unsent <= most && fell_behind() <= most + by_chance;
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

LoadResult conclude(const LoadRun& run, const Usage& usage, bool interrupted, Time ended) {
  LoadResult result;
  result.plan = run.plan();
  result.interrupted = interrupted;
  result.lossy = run.lossy();
  result.latency = run.recorder().latencies();
  result.connections_failed = run.connections_failed();
  result.connections_ok = run.plan().connections - result.connections_failed;
  result.reconnects = run.reconnects();
  result.handovers = run.handovers();
  result.uncorrected_latency = run.recorder().uncorrected_latencies();
  result.send_lateness = run.recorder().send_lateness();
  result.messages = run.recorder().counts();
  result.usage = usage;
  result.complaints = run.complaints();
  for (std::size_t stage = 0; stage < kStages; ++stage)
    result.errors[stage] = run.failures(static_cast<Stage>(stage));
  const Time opens = run.opens().value_or(ended);
  const Time closes = std::min(run.closes().value_or(ended), ended);
  const Duration open = run.windows(ended);
  if (open > Duration{}) {
    result.window = {run.first_opens().value_or(opens), closes};
    result.duration_s = std::chrono::duration<double>(open + awaited_after(run, closes)).count();
    result.throughput_per_s = static_cast<double>(result.messages.verified) / result.rate_s();
    result.slices = run.recorder().parts(open, kSlices);
  }
  return result;
}

}  // namespace joust
