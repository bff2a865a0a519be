// SPDX-License-Identifier: MIT
#include <algorithm>
#include <limits>
#include <map>

#include "base/text.hpp"
#include "base/units.hpp"
#include "race/checks/checks.hpp"
#include "race/figures/disturbance.hpp"
#include "race/figures/summary.hpp"
#include "race/figures/wording.hpp"
#include "race/model/result.hpp"

namespace joust::race {
namespace {

// The largest share of the generator's ceiling at which the server counts as the limit.
constexpr double kMostOfCeiling = 0.70;

// The width of an interval of the client's use from which on it says nothing.
constexpr double kTellsUse = 0.8;

const Entry* ceiling_of(const CaseResult& one, const EngineChoice& client) {
  for (const Entry& entry : one.entries)
    if (entry.kind == EntryKind::ceiling && entry.contestant.client.threads == client.threads &&
        entry.contestant.client.wait == client.wait && !usable_trials(entry).empty())
      return &entry;
  return nullptr;
}

// Returns the highest rate that an interval between messages allows.
double schedule_ceiling(const LoadPlan& load) {
  if (load.interval.count() <= 0) return std::numeric_limits<double>::infinity();
  return static_cast<double>(load.connections) / std::chrono::duration<double>(load.interval).count();
}

// Names of contestants by the number of loops that their clients have, where that is above one.
using SeveralLoops = std::map<std::uint64_t, std::vector<std::string>>;

// Names what the client used up (see add_utilisation()).
const char* what_is_full(const CaseResult& one, const Entry& entry) {
  if (entry.contestant.client.threads == 1) return "its CPU";
  return one.plan.load.turns ? "its CPUs, or of one by its busiest thread," : "its CPUs";
}

// `strangers`: the share of the client's CPUs that they used.
void look_at(const CaseResult& one, const Entry& entry, double strangers, SeveralLoops& several,
             Findings& findings) {
  const std::string& name = entry.contestant.name;
  if (!entry.summary.throughput_per_s) return;
  const double rate = entry.summary.throughput_per_s->median;
  const Entry* ceiling = ceiling_of(one, entry.contestant.client);
  const double schedule = schedule_ceiling(one.plan.load);
  if (ceiling == nullptr && one.no_ceiling.empty())
    findings.doubt("{}: the generator's ceiling was not measured", name);
  // the ceiling is measured with one thread: it does not apply to clients with several
  const bool applies = ceiling != nullptr && entry.contestant.client.threads == 1;
  // With sockets it reaches a part of the ceiling: one that is lower was disturbed.
  const bool known = applies && ceiling->summary.throughput_per_s->median >= rate;
  if (applies && !known)
    findings.warn("{}: the ceiling was disturbed, as the client has exchanged more messages with a server",
                  name);
  const double measured =
      known ? ceiling->summary.throughput_per_s->median : std::numeric_limits<double>::infinity();
  const double most = std::min(measured, schedule);
  if (rate > kMostOfCeiling * schedule) {
    findings.at_least(name);
    findings.doubt("{} keeps pace with the interval ({} messages/s): compare latency and CPU, not throughput",
                   name, format_count(schedule));
    return;
  }
  if (rate > kMostOfCeiling * measured) {
    findings.at_least(name);
    findings.bar(name,
                 fmt::format("at least {} messages/s, {} of the {} that the client manages without a server",
                             format_count(rate), percent(rate / measured), format_count(measured)));
    return;
  }
  if (entry.polls()) {
    findings.warn(
        "{}: a side that polls is always busy, so the side that was the limit is not known, and its CPU time "
        "is that of a core that polls",
        name);
    return;
  }
  const ClientLimit limit = client_limit(entry.summary, strangers);
  if (limit == ClientLimit::yes) {
    findings.at_least(name);
    findings.doubt("{}: the client was the limit, with {} of {} in use: read \"at least {}\"", name,
                   percent(entry.summary.client_utilisation->median), what_is_full(one, entry),
                   format_count(rate));
  } else if (limit == ClientLimit::unknown) {
    findings.limit_unknown(name);
    const Estimate& use = *entry.summary.client_utilisation;
    findings.doubt("{}: the client may have been the limit, with {} of {} in use: {}", name,
                   percent(use.median), what_is_full(one, entry),
                   strangers > kStrangers
                       ? fmt::format("other programs used {} of its CPUs", percent(strangers))
                   : use.interval.width() < kTellsUse
                       ? fmt::format("these rounds allow {} to {}", percent(use.interval.low),
                                     percent(std::min(1.0, use.interval.high)))
                       : "these rounds do not tell");
  } else if (std::isfinite(most)) {
    findings.say("{} at {} of the ceiling", name, percent(rate / most));
  } else if (ceiling != nullptr && !applies) {
    several[entry.contestant.client.threads].push_back(in_list(name));
  }
}

}  // namespace

CheckResult check_generator(const RaceResult&, const CaseResult& one) {
  Findings findings(1, "generator headroom");
  if (one.plan.files && anything_measured(one)) {
    findings.say("not a question here: {}", one.no_ceiling);
    return findings.take();
  }
  if (one.plan.load.open_loop() && anything_measured(one)) {
    findings.say("throughput is given: check 2 says whether the generator kept the schedule");
    return findings.take();
  }
  const bool wanted = std::ranges::any_of(
      contestants_of(one), [](const Entry* entry) { return entry->summary.throughput_per_s.has_value(); });
  if (wanted && !one.no_ceiling.empty())
    findings.doubt("the generator's ceiling is not measured: {}", one.no_ceiling);
  SeveralLoops several;
  const double strangers = strangers_on(kClientsCpus, strangers_in(one));
  for (const Entry* entry : contestants_of(one)) look_at(one, *entry, strangers, several, findings);
  for (const auto& [loops, names] : several)
    findings.doubt(
        "{}: the ceiling is measured with one loop, and is not known for a client of {}: only CPU time says "
        "whether that was the limit",
        join(names), loops);
  return findings.quiet() ? nothing_to_check(std::move(findings)) : findings.take();
}

}  // namespace joust::race
