// SPDX-License-Identifier: MIT
#include <set>

#include "base/words.hpp"
#include "race/checks/checks.hpp"
#include "race/checks/findings.hpp"
#include "race/figures/ranking.hpp"
#include "race/figures/wording.hpp"
#include "stats/drift.hpp"

namespace joust::race {
namespace {

// An effect is accepted if its probability by chance is below this.
constexpr double kChance = 0.01;
// The order of two rounds proves nothing: shuffling them has too few outcomes.
constexpr std::size_t kRoundsThatShowOrder = 3;

std::vector<stats::Observation> observations_of(const CaseResult& one) {
  std::vector<stats::Observation> all;
  const Figure ranked = ranked_by(one).figure;
  for (std::size_t i = 0; i < one.entries.size(); ++i)
    if (one.entries[i].kind != EntryKind::ceiling)
      for (const Trial* trial : usable_trials(one.entries[i]))
        if (const auto figure = ranked(*trial); figure > 0.0)
          all.push_back(
              {.contestant = i, .round = trial->round, .position = trial->position, .figure = *figure});
  return all;
}

}  // namespace

CheckResult check_order(const RaceResult& race, const CaseResult& one) {
  Findings findings(5, "order and drift");
  const std::vector<stats::Observation> all = observations_of(one);
  std::set<std::size_t> rounds;
  for (const stats::Observation& each : all) rounds.insert(each.round);
  if (rounds.size() < kRoundsThatShowOrder) {
    findings.warn("nothing to check: {} measured, and it takes {} to tell an effect from chance",
                  counted(rounds.size(), "round"), kRoundsThatShowOrder);
    findings.say("random order, seed {}", race.seed);
    return findings.take();
  }
  const auto judge = [&](const char* what, const stats::Effect& effect) {
    if (effect.chance < kChance && effect.spread > one.ranking.measure.least)
      findings.warn("the {} mattered: {} between the best and the worst, p={:.3f}", what,
                    spread_text(effect.spread, 1), effect.chance);
    else
      findings.say("no effect of the {} beyond chance ({}, p={:.2f})", what, spread_text(effect.spread, 1),
                   effect.chance);
  };
  judge("position in the round", stats::position_effect(all, race.seed));
  if (one.plan.load.turns)  // compared turn by turn, so what differs between generations cancels out
    findings.say("rounds differed by {}", spread_text(stats::round_effect(all, race.seed).spread, 1));
  else
    judge("round", stats::round_effect(all, race.seed));
  findings.say("random order, seed {}", race.seed);
  return findings.take();
}

}  // namespace joust::race
