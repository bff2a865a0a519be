// SPDX-License-Identifier: MIT
#include <cmath>

#include "base/units.hpp"
#include "base/words.hpp"
#include "race/checks/checks.hpp"
#include "race/checks/findings.hpp"
#include "race/checks/steadiness.hpp"
#include "race/figures/wording.hpp"
#include "race/model/entries.hpp"

namespace joust::race {
namespace {

const char* name_of(Quantity quantity) {
  return quantity == Quantity::throughput ? "throughput" : "server CPU time per message";
}

// Returns the warm-up of a contestant; of all contestants, that of the load.
Duration warmup_of(const std::string& contestant, const CaseResult& one) {
  const Entry* const entry = find_entry(one, contestant);
  return (entry == nullptr ? std::nullopt : entry->contestant.warmup).value_or(one.plan.load.warmup);
}

std::string remedy(const Trend& trend, const CaseResult& one) {
  const LoadPlan& load = one.plan.load;
  const bool speeds_up = (trend.change > 0) == (trend.quantity == Quantity::throughput);
  if (speeds_up)
    return fmt::format("a longer warm-up (-w, now {}) leaves that out{}",
                       format_duration(warmup_of(trend.contestant, one)),
                       trend.contestant.empty() ? "" : ", or a warmup of this contestant in a scenario");
  return fmt::format("the figure depends on the duration (-d, now {}), so look for what grows or fills up",
                     format_duration(load.duration));
}

void tell(const Trend& trend, const CaseResult& one, bool several, Findings& findings) {
  const bool all = trend.contestant.empty();
  const char* const trial = one.plan.load.turns ? "generation" : "trial";
  const std::string where = trend.shape == TrendShape::halves
                                ? fmt::format("from the first half of a {} to the second", trial)
                                : fmt::format("from the beginning of a {} to its end", trial);
  findings.warn("{}: {} {} by {}{} {}{}; {}", all ? "all contestants" : trend.contestant,
                name_of(trend.quantity), trend.change > 0 ? "rises" : "falls", all ? "at least " : "",
                percent(std::abs(trend.change), 1), where,
                several && !all ? ", compared with the others" : "", remedy(trend, one));
}

}  // namespace

CheckResult check_steady(const RaceResult&, const CaseResult& one) {
  Findings findings(6, "steady state");
  if (!anything_measured(one)) return nothing_to_check(std::move(findings));
  const LoadPlan& load = one.plan.load;
  if (one.plan.files) {
    findings.say("not a question here: whole commands are timed");
    return findings.take();
  }
  if (load.messages && !load.turns) {
    findings.say("a load that ends after a number of messages has no part that should be steady");
    return findings.take();
  }
  if (load.interval.count() > 0) {
    findings.say("the schedule of the load sets the throughput of every part of a trial");
    return findings.take();
  }
  if (load.open_loop() && !load.turns) {
    findings.warn(
        "not checked: throughput is given, and the cost of a message is known for whole trials only");
    return findings.take();
  }
  const Steadiness steadiness = steadiness_of(one);
  if (steadiness.trials < kTrialsThatShowATrend) {
    findings.warn(
        "nothing to check: {} with enough messages in each part, and it takes {} to tell a trend from chance",
        counted(steadiness.trials, "trial"), kTrialsThatShowATrend);
    return findings.take();
  }
  for (const Trend& trend : steadiness.found) tell(trend, one, steadiness.several, findings);
  if (steadiness.found.empty() && steadiness.greatest)
    findings.say(
        "no change within {} beyond chance; the greatest from the first half to the second: {} of {}, "
        "{:+.1f} %",
        load.turns ? "generations" : "trials", name_of(steadiness.greatest->quantity),
        steadiness.greatest->contestant, 100 * steadiness.greatest->change);
  else if (steadiness.found.empty())
    findings.warn("no contestant has a result to look at");
  return findings.take();
}

}  // namespace joust::race
