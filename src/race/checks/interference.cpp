// SPDX-License-Identifier: MIT
#include "race/checks/interference.hpp"

#include <algorithm>
#include <optional>

#include "race/figures/disturbance.hpp"
#include "race/figures/wording.hpp"

namespace joust::race {
namespace {

// The least steal time that is reported, as a share of the CPUs.
constexpr double kStealWorthAWord = 0.01;

// The CPU time that a server may use while it is stopped, as a share of the time of its own turns. Stopping
// takes some CPU time itself.
constexpr double kMostAtRest = 0.01;

// The smallest change of a clock rate that is reported. Smaller changes are errors of the reading.
constexpr double kClockChange = 1.02;

}  // namespace

std::size_t check_steal(const CaseResult& one, Findings& findings) {
  double worst = 0, sum = 0;
  std::size_t trials = 0, unknown = 0, too_short = 0, disturbed = 0;
  const char* of = "the machine";
  for (const Entry& entry : one.entries)
    for (const Trial* trial : usable_trials(entry)) {
      const auto steal = steal_share(*trial);
      unknown += !trial->machine;
      too_short += trial->machine && !steal;
      if (!steal) continue;
      if (trial->pinned) of = "the pinned CPUs";
      worst = std::max(worst, *steal);
      sum += *steal;
      disturbed += *steal > kDisturbedSteal;
      ++trials;
    }
  const double mean = trials == 0 ? 0 : sum / static_cast<double>(trials);
  if (unknown > 0) findings.warn("the machine's CPU time could not be read in {}", counted(unknown, "trial"));
  if (too_short > 0)
    findings.say("steal time is not known in {} with short windows", counted(too_short, "trial"));
  if (worst > kStealWorthAWord)
    findings.warn(
        "other virtual machines on this host took {} of {} on average and {} in the worst trial (steal time, "
        "{} of {} above 5 %)",
        percent(mean, 1), of, percent(worst, 1), disturbed, counted(trials, "trial"));
  else if (trials > 0)
    findings.say("steal time was {} of {} at most", percent(worst, 1), of);
  return disturbed;
}

void check_rest(const CaseResult& one, Findings& findings) {
  for (const Entry& entry : one.entries) {
    double used_s = 0, turns_s = 0;
    for (const Trial* trial : usable_trials(entry)) {
      used_s += trial->cpu_s_at_rest;
      turns_s += trial->turns.empty() ? 0 : trial->time_of_usage_s();
    }
    if (turns_s > 0 && used_s > kMostAtRest * turns_s)
      findings.warn("{}: its server used {:.3g} s of CPU time while it was stopped, which was others' time",
                    entry.contestant.name, used_s);
  }
}

void check_throttling(const CaseResult& one, Findings& findings) {
  double time_s = 0;
  std::size_t throttled = 0;
  for (const Entry& entry : one.entries)
    for (const Trial* trial : usable_trials(entry)) {
      if (!trial->throttled || trial->throttled->times == 0) continue;
      ++throttled;
      time_s += trial->throttled->time_s;
    }
  if (throttled > 0)
    findings.warn(
        "the CPU quota of the control group held up {}, for {:.3g} s in all: raise the quota, or use "
        "fewer threads",
        counted(throttled, "trial"), time_s);
}

void check_clock(const CaseResult& one, Findings& findings) {
  std::optional<ClockRates> clock;
  for (const Entry& entry : one.entries)
    for (const Trial* trial : usable_trials(entry))
      if (trial->clock) clock = clock ? *clock | *trial->clock : *trial->clock;
  if (clock && clock->most_mhz > clock->least_mhz * kClockChange)
    findings.say("the CPUs' clocks ran at {:.2f} to {:.2f} GHz", clock->least_mhz / 1e3,
                 clock->most_mhz / 1e3);
}

}  // namespace joust::race
