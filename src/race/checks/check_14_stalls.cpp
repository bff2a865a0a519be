// SPDX-License-Identifier: MIT
#include <cmath>

#include "base/text.hpp"
#include "race/checks/checks.hpp"
#include "race/figures/uneven_turns.hpp"
#include "race/figures/wording.hpp"
#include "race/model/result.hpp"

namespace joust::race {
namespace {

std::string than_quiet(double change) {
  return fmt::format("{} {}", percent(std::abs(change), 1), change > 0 ? "more" : "less");
}

std::string worst_turns(const Unevenness& uneven) {
  std::vector<std::string> turns;
  for (const UnevenTurn& turn : uneven.worst)
    turns.push_back(
        fmt::format("turn {} of generation {} ({})", turn.number, turn.generation, than_quiet(turn.change)));
  return join(turns);
}

}  // namespace

CheckResult check_stalls(const RaceResult&, const CaseResult& one) {
  Findings findings(14, "quiet and mean agree");
  if (!anything_measured(one)) return nothing_to_check(std::move(findings));
  const EvenTurns turns = even_turns_of(one);
  if (!turns.several) {
    findings.say("a lone contestant's stalls cannot be told from those of the machine");
    return findings.take();
  }
  if (turns.generations < kGenerationsThatShowStalls) {
    findings.doubt("nothing to check: {}, and it takes {} to tell a contestant's stalls from chance",
                   counted(turns.generations, "generation"), kGenerationsThatShowStalls);
    return findings.take();
  }
  for (const Unevenness& uneven : turns.found)
    findings.warn(
        "{}: over all its turns its {} is {} than in its quiet ones, beyond that of the others ({} to {}); "
        "its "
        "figures and place count all turns; the worst: {}",
        uneven.contestant, uneven.figure->words, than_quiet(uneven.change), than_quiet(uneven.interval.low),
        than_quiet(uneven.interval.high), worst_turns(uneven));
  if (turns.found.empty() && turns.greatest)
    findings.say(
        "all turns and the quiet ones agree within {} or chance; the greatest difference: {} of {}, {:+.1f} "
        "%",
        percent(kUneven), turns.greatest->figure->words, turns.greatest->contestant,
        100 * turns.greatest->change);
  constexpr const char* kHidden = "with {} a contestant's own stalls of up to {} look like chance";
  if (turns.chance > kCoarse)
    findings.doubt(kHidden, counted(turns.generations, "generation"), spread_text(turns.chance));
  else
    findings.say(kHidden, counted(turns.generations, "generation"), spread_text(turns.chance));
  return findings.take();
}

bool has_quiet_turns(const CaseResult& one) {
  return one.plan.load.turns;
}

}  // namespace joust::race
