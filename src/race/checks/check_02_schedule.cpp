// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "base/units.hpp"
#include "race/checks/checks.hpp"
#include "race/figures/ranking.hpp"
#include "race/figures/wording.hpp"
#include "race/model/result.hpp"

namespace joust::race {
namespace {

// The confidence with which a share below kKeptShare is known.
constexpr double kKeptConfidence = 0.95;
// A smaller share is too little whatever its interval.
constexpr double kFarBehind = 0.80;
// The median or p99 lateness that is reported, as a share of the median latency.
constexpr double kLatenessWorthAWord = 0.10;
// The median lateness of a generator that is too late, relative to the latency that ranks.
constexpr double kLateGenerator = 0.10;

// How well an entry's load kept its schedule, and the latency that its lateness is compared with.
struct Fidelity {
  const Estimate& achieved;
  std::optional<double> lateness_p50_ns{}, lateness_p99_ns{};
  double latency_p50_ns = 0;
  double ranked_latency_ns = 0;

  bool too_little() const {
    if (achieved.median < kFarBehind) return true;
    return achieved.interval.is_known() && achieved.confidence >= kKeptConfidence &&
           achieved.interval.high < kKeptShare;
  }
  bool behind_at_times() const { return achieved.median < kKeptShare || least() < kKeptShare; }
  bool late() const { return lateness_p50_ns > kLateGenerator * ranked_latency_ns; }
  bool half_is_late() const { return lateness_p50_ns > kLatenessWorthAWord * latency_p50_ns; }
  bool late_at_times() const { return lateness_p99_ns > kLatenessWorthAWord * latency_p50_ns; }
  double least() const { return achieved.interval.is_known() ? achieved.interval.low : achieved.median; }
  std::string text() const {
    return fmt::format("the backlog grew by {} of the requests due", percent(1 - achieved.median, 1));
  }
  std::string text_at_times() const {
    if (!achieved.interval.is_known()) return text();
    return fmt::format("{} ({} to {} by the round)", text(), percent(1 - achieved.interval.high, 1),
                       percent(1 - achieved.interval.low, 1));
  }
};

std::optional<Fidelity> fidelity_of(const CaseResult& one, const Entry& entry) {
  const Summary& summary = entry.summary;
  const auto& ranked = ranked_figure(one, entry);
  const auto latency_p50_ns = kMedianLatency.of(summary.latency);
  if (!summary.schedule || !latency_p50_ns || !ranked) return std::nullopt;
  return Fidelity{.achieved = summary.schedule->achieved,
                  .lateness_p50_ns = kMedianLatency.of(summary.schedule->lateness),
                  .lateness_p99_ns = kP99Latency.of(summary.schedule->lateness),
                  .latency_p50_ns = *latency_p50_ns,
                  .ranked_latency_ns = ranked->median};
}

// Returns why an entry is barred; empty if it is not. A client that paces its load polls, so its CPU time
// does not show whether it was the limit. Its lateness shows it.
std::string fault_of(const CaseResult& one, const Fidelity& fidelity) {
  if (fidelity.late())
    return fmt::format(
        "the generator did not keep the schedule: half of its requests were late by {} or more, of a {} of "
        "{}",
        format_ns(*fidelity.lateness_p50_ns), one.latency->words, format_ns(fidelity.ranked_latency_ns));
  if (!fidelity.too_little()) return {};
  return fmt::format("the server, or the load's receiving side, does not keep up with {} messages/s: {}",
                     format_rate(one.plan.load.rate_per_s), fidelity.text());
}

// Returns the mean length of the turns of an entry; nothing if it took none.
std::optional<double> turn_length_s(const Entry& entry) {
  double sum_s = 0, turns = 0;
  for (const Trial* trial : usable_trials(entry))
    for (const Turn& turn : trial->turns) {
      sum_s += turn.turn_s;
      turns += 1;
    }
  return turns > 0 ? std::optional(sum_s / turns) : std::nullopt;
}

// Warns of turns that are too short for the tail. A turn begins without a queue and ends without one.
void look_at_turns(const Entry& entry, Findings& findings) {
  constexpr double kTails = 20;  // in a turn that is long enough
  const auto length_s = turn_length_s(entry);
  const auto tail_ns = entry.summary.latency.percentile(0.999);
  if (!length_s || !tail_ns || kTails * static_cast<double>(*tail_ns) <= 1e9 * *length_s) return;
  findings.warn(
      "{}: its p99.9 of {} is more than a twentieth of a turn ({}), so its p99 is too small: messages "
      "that would have waited behind the end of a turn are missing (see --turns off)",
      entry.contestant.name, format_ns(static_cast<double>(*tail_ns)), format_ns(1e9 * *length_s));
}

}  // namespace

CheckResult check_schedule(const RaceResult&, const CaseResult& one) {
  Findings findings(2, "schedule fidelity");
  if (!anything_measured(one)) return nothing_to_check(std::move(findings));
  double least = 1, latest_ns = 0;
  std::vector<std::string> late, not_known;
  for (const Entry* entry : entries_of_contestants(one)) {
    if (entry->summary.trials == 0) continue;
    const std::string& name = entry->contestant.name;
    const auto fidelity = fidelity_of(one, *entry);
    if (!fidelity) {
      findings.warn("{}: whether its load kept the schedule is not known", name);
      continue;
    }
    least = std::min(least, fidelity->achieved.median);
    if (const std::string fault = fault_of(one, *fidelity); !fault.empty())
      findings.bar(answerable(*entry), fault, name);
    else if (fidelity->behind_at_times())
      findings.warn("{}: behind its schedule at times: {}", name, fidelity->text_at_times());
    look_at_turns(*entry, findings);
    if (fidelity->half_is_late())
      findings.warn(
          "{}: half of the requests were sent {} late or more, of a median latency of {}, because the "
          "generator "
          "had other work: the median is partly its own",
          name, format_ns(*fidelity->lateness_p50_ns), format_ns(fidelity->latency_p50_ns));
    if (!fidelity->lateness_p99_ns)
      not_known.push_back(in_list(name));
    else if (fidelity->late_at_times())
      late.push_back(fmt::format("{} by {} (median latency {})", in_list(name),
                                 format_ns(*fidelity->lateness_p99_ns), format_ns(fidelity->latency_p50_ns)));
    latest_ns = std::max(latest_ns, fidelity->lateness_p99_ns.value_or(0));
  }
  if (!late.empty())
    findings.warn(
        "one request of a hundred was sent late, {}: the tail of the latency is partly the generator's, or "
        "the machine's",
        join(late));
  if (!not_known.empty())
    findings.warn("too few requests tell how late the generator was: {}", join(not_known));
  if (findings.quiet())
    findings.say("at least {} of the schedule kept; 99 % of the requests sent at most {} late",
                 percent(least, 1), format_ns(latest_ns));
  return findings.take();
}

}  // namespace joust::race
