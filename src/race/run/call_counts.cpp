// SPDX-License-Identifier: MIT
#include "race/run/call_counts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.hpp"

namespace joust::race {
namespace {

// The limits of a window whose counts are used. The counters are read up to some milliseconds off the ends of
// the timed window: with a window of 4 ms, one contestant had 0.04 to 5 calls a message. The readings
// themselves take about ten calls.
constexpr double kLeastCountedS = 0.1;
constexpr std::uint64_t kLeastCountedMessages = 500;

}  // namespace

std::string too_little_to_count(const LoadResult& load) {
  if (load.duration_s >= kLeastCountedS && load.messages.verified >= kLeastCountedMessages) return {};
  return fmt::format(
      "not counted: the timed window held {} messages in {}; {} messages and {:.0f} ms are needed, so ask "
      "for "
      "a longer duration or more messages",
      load.messages.verified, format_ns(load.duration_s * 1e9), kLeastCountedMessages, kLeastCountedS * 1e3);
}

std::string too_few_to_count(const Case& one) {
  if (!one.files || one.files->count >= kLeastCountedMessages) return {};
  return fmt::format("not counted: a command moves fewer than {} files", kLeastCountedMessages);
}

std::string what_failed(const Trial& trial) {
  if (!trial.failure.empty()) return trial.failure;
  const bool told = trial.load && !trial.load->messages_of_errors.empty();
  return told ? trial.load->messages_of_errors.front() : "not one reply in its timed window";
}

void apply(const CallCount& calls, Trial& trial) {
  if (!trial.load) return;
  const auto messages = static_cast<double>(trial.load->messages.verified);
  trial.calls_reason = calls.reason;
  if (const auto calls_of_one = calls.server_per_message()) trial.server_calls = *calls_of_one * messages;
  if (const auto calls_of_one = calls.client_per_message()) trial.client_calls = *calls_of_one * messages;
}

void share_counts(CaseResult& one) {
  const std::string too_few = too_few_to_count(one.plan);
  for (Entry& who : one.entries) {
    if (!too_few.empty()) who.calls.reason = too_few;
    if (who.kind == EntryKind::again) who.calls = find_entry(one, who.repeats)->calls;
    if (who.kind == EntryKind::ceiling) who.calls.reason = "not counted: there is no server";
    if (who.kind != EntryKind::contestant || !too_few.empty())
      for (Trial& trial : who.trials) apply(who.calls, trial);
  }
}

void leave_out_calls(Plan& plan, const std::string& reason) {
  plan.counts_calls = false;
  for (CaseResult& one : plan.cases)
    for (Entry& entry : one.entries) entry.calls.reason = reason;
}

void make_short(Case& one) {
  LoadPlan& load = one.load;
  load.turns = false;
  Duration enough = std::chrono::milliseconds(300);
  if (load.open_loop())
    enough = std::max(enough, std::chrono::round<Duration>(std::chrono::duration<double>(
                                  1.2 * kLeastCountedMessages / load.rate_per_s)));
  load.duration = std::min(load.duration, enough);
  if (!one.warmup_given) load.warmup = std::min<Duration>(load.warmup, std::chrono::milliseconds(100));
}

}  // namespace joust::race
