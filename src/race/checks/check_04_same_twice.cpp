// SPDX-License-Identifier: MIT
#include "race/checks/checks.hpp"
#include "race/checks/findings.hpp"
#include "race/figures/ranking.hpp"
#include "race/figures/wording.hpp"

namespace joust::race {

CheckResult check_same_twice(const RaceResult&, const CaseResult& one) {
  Findings findings(4, "the same twice (A/A)");
  const auto ratio = reference_to_itself(one, ranked_by(one).figure);
  if (!ratio) {
    findings.warn("the reference has no second entry with a result, so it is not compared with itself");
    return findings.take();
  }
  if (!ratio->is_known()) {
    findings.warn("{} against itself in {} round: two are needed to tell the noise", one.reference,
                  ratio->rounds);
    return findings.take();
  }
  const std::string figures =
      fmt::format("{} against itself: {} ({})", one.reference, ratio_words(ratio->estimate, 3),
                  interval_words(ratio->interval, 3));
  if (one.reference_differs)
    findings.warn("{}: it seems to differ from itself, so differences of up to {} are not told", figures,
                  spread_text(one.least_difference));
  else if (stats::aa_spread(*ratio) > kCoarse)
    findings.warn("{}: this machine is noisy, see check 9 for the difference that is told", figures);
  else
    findings.say("{}", figures);
  return findings.take();
}

}  // namespace joust::race
