// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include "race/checks/checks.hpp"
#include "race/checks/findings.hpp"
#include "race/figures/wording.hpp"
#include "race/model/entries.hpp"
#include "stats/ties.hpp"

namespace joust::race {

CheckResult check_ties(const RaceResult&, const CaseResult& one) {
  Findings findings(9, "tie rule");
  if (!std::isfinite(one.least_difference)) {
    findings.warn("no difference can be told, as the noise is not known");
    return findings.take();
  }
  const bool has_places = std::ranges::any_of(
      contestants_of(one), [](const Entry* entry) { return entry->tie_group.has_value(); });
  if (one.least_difference > stats::kTellsNothing && !has_places)
    findings.warn("nothing can be told here: more rounds are needed");
  else if (one.least_difference > stats::kTellsNothing)
    findings.warn("only differences by a factor of {:.2g} and more can be told here",
                  1 + one.least_difference);
  else if (one.least_difference > kCoarse)
    findings.warn("differences below {} cannot be told here", percent(one.least_difference, 1));
  else
    findings.say("differences of {} and more can be told", percent(one.least_difference, 1));
  return findings.take();
}

}  // namespace joust::race
