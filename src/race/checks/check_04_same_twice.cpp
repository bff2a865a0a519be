// SPDX-License-Identifier: MIT
#include "race/checks/checks.hpp"
#include "race/figures/wording.hpp"

namespace joust::race {
namespace {

void look_at(const CaseResult& one, const Comparison& comparison, const char* figure, Findings& findings) {
  const auto& ratio = comparison.itself;
  if (!ratio || ratio->rounds == 0) return;
  if (!ratio->is_known()) {
    findings.doubt("{} against itself in {} round: two are needed to tell the noise", one.reference,
                   ratio->rounds);
    return;
  }
  const std::string figures =
      fmt::format("{}{} against itself: {}", figure, one.reference, ratio_with_interval(*ratio, 3));
  if (comparison.reference_differs)
    findings.warn("{}: it seems to differ from itself, so differences of up to {} do not count", figures,
                  spread_text(comparison.measure.least));
  else if (stats::aa_spread(*ratio) > kCoarse)
    findings.doubt("{}: this machine is noisy, see check 9 for the difference that is told", figures);
  else
    findings.say("{}", figures);
}

}  // namespace

CheckResult check_same_twice(const RaceResult&, const CaseResult& one) {
  Findings findings(4, "the same twice (A/A)");
  if (!one.ranking.itself)
    findings.doubt("the reference has no second entry with a result, so it is not compared with itself");
  look_at(one, one.ranking, "", findings);
  const bool says_it_again = one.ranking.itself && one.costs.itself && !one.costs.itself->is_known();
  if (!says_it_again) look_at(one, one.costs, "cost of ", findings);
  return findings.take();
}

}  // namespace joust::race
