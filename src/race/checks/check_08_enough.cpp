// SPDX-License-Identifier: MIT
#include <algorithm>

#include "base/words.hpp"
#include "race/checks/checks.hpp"
#include "race/checks/findings.hpp"
#include "race/figures/ranking.hpp"
#include "race/figures/wording.hpp"
#include "race/model/entries.hpp"

namespace joust::race {
namespace {

// Half the width of a ratio's interval, relative to the ratio.
double half_width(const Estimate& ratio) {
  return ratio.interval.width() / 2 / ratio.median;
}

// A race with few rounds reaches less confidence, or its intervals are widened: see stats::compare.
void check_rounds(std::uint64_t rounds, const stats::Family& family, Findings& findings) {
  const std::size_t enough = stats::values_for(family.of_each());
  if (rounds >= enough) return findings.say("{}", counted(rounds, "round"));
  const double together = family.together(stats::place_of_centre(rounds, family.of_each()).coverage);
  const std::string few =
      fmt::format("{} for {} ({} together takes {})", counted(rounds, "round"),
                  counted(family.pairs(), "comparison"), percent(stats::kTogether), counted(enough, "round"));
  if (rounds < 2)
    findings.warn("{}: nothing is told", few);
  else if (together >= stats::kBarelyTogether)
    findings.warn("{}: the intervals hold together with {}", few, percent(together, 1));
  else
    findings.warn(
        "{}: the intervals are widened, which supposes that small deviations are more frequent than large "
        "ones",
        few);
}

}  // namespace

CheckResult check_enough(const RaceResult& race, const CaseResult& one) {
  Findings findings(8, "enough rounds and samples");
  if (!anything_measured(one)) return nothing_to_check(std::move(findings));
  const std::uint64_t rounds = std::min(race.rounds, rounds_of(one));
  check_rounds(rounds, one.family, findings);
  if (one.ranked_by_latency() && one.latency != &kP99Latency)
    findings.warn("too few messages in each trial for a p99 latency: ranked by the {}", one.latency->words);
  double widest = 0;
  std::string of;
  for (const Entry* entry : contestants_of(one)) {
    if (entry->summary.trials == 0) continue;
    if (!one.plan.files && !kP99Latency.of(entry->summary.latency) && !one.ranked_by_latency())
      findings.warn("{}: too few messages for a p99 latency", entry->contestant.name);
    if (entry->summary.trials < rounds)
      findings.warn("{}: {} of {} rounds have a result", entry->contestant.name, entry->summary.trials,
                    rounds);
    const auto& ratio = ranked_ratio(one, *entry);
    if (!ratio || !ratio->interval.is_known() || half_width(*ratio) <= widest) continue;
    widest = half_width(*ratio);
    of = entry->contestant.name;
  }
  if (widest > kCoarse)
    findings.warn("the interval of {} is wide: its ratio ± {}; more rounds narrow it", in_list(of),
                  spread_text(widest));
  else if (widest > 0)
    findings.say("widest interval: {} ± {}", in_list(of), percent(widest, 1));
  return findings.take();
}

}  // namespace joust::race
