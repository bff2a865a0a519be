// SPDX-License-Identifier: MIT
#include "load/result.hpp"

#include <algorithm>

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
    result.rate_s = std::max(result.duration_s, time_of_schedule_s(run.plan(), result.messages.verified));
    result.throughput_per_s = static_cast<double>(result.messages.verified) / result.rate_s;
    result.slices = run.recorder().timeline().parts(open, kSlices);
  }
  return result;
}

}  // namespace joust
