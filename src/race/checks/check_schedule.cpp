// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "race/checks/checks.hpp"
#include "race/checks/cpu_shares.hpp"
#include "race/checks/findings.hpp"

namespace joust::race {
namespace {

std::string time_text(double ns) {
  return format_duration(Duration(std::llround(ns)));
}

// What an entry's load made of the schedule.
struct Fidelity {
  double achieved = 0;  // throughput / rate
  double kept = 0;      // the share of the requests due that were sent in the window
  double chance = 0;    // by so much `achieved` may differ from 1 without a fault
  double lateness_p50_ns = 0, lateness_p99_ns = 0, latency_p50_ns = 0;

  bool too_little() const { return kept < kKept || achieved < kKept - chance; }
  bool too_much() const { return achieved > 2 - kKept + chance; }
  bool late() const { return lateness_p50_ns > kLateGenerator * latency_p50_ns; }
  bool late_at_times() const { return lateness_p99_ns > kLatenessWorthAWord * latency_p50_ns; }
  std::string text() const {
    return fmt::format("{} of the rate achieved, {} of the requests due not sent in the window",
                       percent(achieved, 1), percent(1 - kept, 1));
  }
};

// A Poisson process varies, and a burst of all connections falls into a window or not.
double chance_of(const Entry& entry, const LoadPlan& load) {
  double messages = 0, trials = 0;
  for (const Trial* trial : usable_trials(entry)) {
    messages += static_cast<double>(trial->load->verified);
    ++trials;
  }
  const double poisson = load.arrivals == "poisson" ? 4 / std::sqrt(messages) : 0;
  const double burst =
      load.phase == "together" ? static_cast<double>(load.connections) * trials / messages : 0;
  return poisson + burst;
}

std::optional<Fidelity> fidelity_of(const CaseResult& one, const Entry& entry) {
  const Summary& summary = entry.summary;
  const auto& latency = summary.latency_by_round.p50;
  if (!summary.schedule || !summary.throughput_per_s || !latency) return std::nullopt;
  return Fidelity{.achieved = summary.throughput_per_s->median / *one.plan.load.rate_per_s,
                  .kept = summary.schedule->kept,
                  .chance = chance_of(entry, one.plan.load),
                  .lateness_p50_ns = summary.schedule->lateness_p50_ns.value_or(0),
                  .lateness_p99_ns = summary.schedule->lateness_p99_ns.value_or(0),
                  .latency_p50_ns = latency->median};
}

// Why an entry is barred; empty if it is not.
std::string fault_of(const RaceResult& race, const CaseResult& one, const Entry& entry,
                     const Fidelity& fidelity) {
  if (fidelity.late())
    return fmt::format(
        "the generator did not keep the schedule: half of its requests were late by {} or more, of a median "
        "latency of {}",
        time_text(fidelity.lateness_p50_ns), time_text(fidelity.latency_p50_ns));
  if (fidelity.too_much()) return "the generator sent more than the schedule said: " + fidelity.text();
  if (!fidelity.too_little()) return {};
  const CpuShares shares = cpu_shares(race, entry);
  if (!spins(entry) && shares.client_is_limit())
    return fmt::format(
        "the generator did not keep the schedule: {} of its CPU was in use, and {} of the server's; {}",
        percent(std::min(1.0, shares.client)), percent(shares.server), fidelity.text());
  return fmt::format("the server does not keep up with {} messages/s: {}",
                     format_rate(*one.plan.load.rate_per_s), fidelity.text());
}

}  // namespace

CheckResult check_schedule(const RaceResult& race, const CaseResult& one) {
  Findings findings(2, "schedule fidelity");
  if (!anything_measured(one)) return nothing_to_check(std::move(findings));
  double least = 1, latest_ns = 0;
  for (const Entry* entry : entries_of_contestants(one)) {
    if (entry->summary.trials == 0) continue;
    const std::string& name = entry->contestant.name;
    const auto fidelity = fidelity_of(one, *entry);
    if (!fidelity) {
      findings.warn("{}: whether its load kept the schedule is not known", name);
      continue;
    }
    least = std::min({least, fidelity->kept, fidelity->achieved});
    latest_ns = std::max(latest_ns, fidelity->lateness_p99_ns);
    if (const std::string fault = fault_of(race, one, *entry, *fidelity); !fault.empty())
      findings.bar(answerable(*entry), fault, name);
    else if (fidelity->late_at_times())
      findings.warn(
          "{}: one request of a hundred was sent late by {} or more, at a median latency of {}: the tail of "
          "the latency is partly the generator's, or the machine's",
          name, time_text(fidelity->lateness_p99_ns), time_text(fidelity->latency_p50_ns));
  }
  if (findings.quiet())
    findings.say("at least {} of the schedule kept; 99 % of the requests sent at most {} late",
                 percent(least, 1), time_text(latest_ns));
  return findings.take();
}

}  // namespace joust::race
