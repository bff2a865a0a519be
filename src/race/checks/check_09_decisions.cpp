// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include "base/words.hpp"
#include "race/checks/checks.hpp"
#include "race/checks/findings.hpp"
#include "race/figures/wording.hpp"
#include "race/model/entries.hpp"

namespace joust::race {
namespace {

std::string decisions_text(const Comparison& comparison) {
  const auto count = [&](stats::Decision decision) {
    return std::ranges::count(comparison.pairs, decision, &Pair::decision);
  };
  return fmt::format("{}: {} differ, {} equal within {}, {} not decided",
                     counted(comparison.pairs.size(), "pair"), count(stats::Decision::differ),
                     count(stats::Decision::equal), percent(comparison.measure.equal, 1),
                     count(stats::Decision::undecided));
}

void look_at(const CaseResult& one, const Comparison& comparison, std::optional<stats::Places> Entry::*place,
             const char* figure, Findings& findings) {
  const double least = comparison.least_difference;
  const bool has_places = std::ranges::any_of(
      contestants_of(one), [&](const Entry* entry) { return (entry->*place).has_value(); });
  if (!std::isfinite(least))
    findings.warn("{}no difference can be told, as the noise is not known", figure);
  else if (least > stats::kTellsNothing && !has_places)
    findings.warn("{}nothing can be told here: more rounds are needed", figure);
  else if (least > stats::kTellsNothing)
    findings.warn("{}only differences by a factor of {:.2g} and more can be told here", figure, 1 + least);
  else if (least > kCoarse)
    findings.warn("{}differences below {} are told in less than half of such races; {}", figure,
                  percent(least, 1), decisions_text(comparison));
  else
    findings.say("{}differences of {} are told in at least half of such races; {}", figure, percent(least, 1),
                 decisions_text(comparison));
}

}  // namespace

CheckResult check_decisions(const RaceResult&, const CaseResult& one) {
  Findings findings(9, "what is decided");
  look_at(one, one.ranking, &Entry::place, "", findings);
  if (!one.costs.pairs.empty()) look_at(one, one.costs, &Entry::cost_place, "cost: ", findings);
  return findings.take();
}

}  // namespace joust::race
