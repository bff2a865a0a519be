// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "race/checks/checks.hpp"
#include "race/figures/wording.hpp"
#include "race/model/result.hpp"

namespace joust::race {
namespace {

// Returns whether nothing is said of a pair, because its true difference may be any greater one.
bool is_hidden(const Pair& pair) {
  return pair.understated && pair.decision == stats::Decision::undecided;
}

std::string decisions_text(const Comparison& comparison) {
  std::vector<std::string> parts;
  const auto add = [&](stats::Decision decision, const std::string& words) {
    const auto is_one = [&](const Pair& pair) { return pair.decision == decision && !is_hidden(pair); };
    if (const auto count = std::ranges::count_if(comparison.pairs, is_one); count > 0)
      parts.push_back(fmt::format("{} {}", count, words));
  };
  add(stats::Decision::differ, "differ");
  add(stats::Decision::slight, "differ by about as much as counts");
  add(stats::Decision::equal, "equal within " + percent(comparison.measure.equal, 1));
  add(stats::Decision::probable, "probably different");
  add(stats::Decision::undecided, "without a difference found");
  if (const auto hidden = std::ranges::count_if(comparison.pairs, is_hidden); hidden > 0)
    parts.push_back(fmt::format("{} not judged, as the client was, or may have been, the limit", hidden));
  return fmt::format("{}: {}", counted(comparison.pairs.size(), "pair"), join(parts));
}

void look_at(const CaseResult& one, const Comparison& comparison, std::optional<stats::Places> Entry::*place,
             const char* figure, Findings& findings) {
  const double least = comparison.least_difference;
  const bool has_places = std::ranges::any_of(
      contestants_of(one), [&](const Entry* entry) { return (entry->*place).has_value(); });
  if (!std::isfinite(least))
    findings.doubt("{}no difference can be told, as the noise is not known", figure);
  else if (least > stats::kMostShown || (least > stats::kTellsNothing && !has_places))
    findings.doubt("{}nothing can be told here: more rounds are needed", figure);
  else if (least > stats::kTellsNothing)
    findings.doubt("{}this race can see differences by a factor of {:.2g} and more", figure, 1 + least);
  else if (least > kCoarse)
    findings.doubt("{}this race can see differences of about {} and more; {}", figure, percent(least, 1),
                   decisions_text(comparison));
  else
    findings.say("{}this race can see differences of about {} and more; {}", figure, percent(least, 1),
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
