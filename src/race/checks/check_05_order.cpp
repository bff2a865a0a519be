// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>

#include "base/text.hpp"
#include "race/checks/checks.hpp"
#include "race/figures/ranking.hpp"
#include "race/figures/wording.hpp"
#include "stats/drift.hpp"

namespace joust::race {
namespace {

// Effects are accepted if their probability by chance is below this: that of the order of rounds, and those
// of turns together.
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

struct PlacedTurn {
  std::size_t contestant;
  std::uint64_t generation;
  const Turn* turn;
  bool usable;  // others are only what ran before
};

// Returns the turns of all generations in the order of time.
std::vector<PlacedTurn> turns_of(const CaseResult& one) {
  std::vector<PlacedTurn> turns;
  for (std::size_t i = 0; i < one.entries.size(); ++i)
    for (const Trial& trial : one.entries[i].trials) {
      if (!trial.counted) continue;  // another attempt of its round has the turns
      const bool usable = one.entries[i].kind != EntryKind::ceiling && trial.measured();
      for (const Turn& turn : trial.turns)
        turns.push_back({.contestant = i, .generation = trial.round, .turn = &turn, .usable = usable});
    }
  std::ranges::sort(turns, {}, [](const PlacedTurn& each) {
    return std::tuple(each.generation, each.turn->number, each.turn->order);
  });
  return turns;
}

using TurnReading = std::optional<double> (Turn::*)() const;

// Returns the figure of each turn, with the turn's place in its round of turns.
std::vector<stats::Observation> by_order(const std::vector<PlacedTurn>& turns, TurnReading figure) {
  std::vector<stats::Observation> all;
  std::size_t round = 0;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const auto& [contestant, generation, turn, usable] = turns[i];
    const bool follows = i > 0 && turns[i - 1].generation == generation;
    if (!follows || turns[i - 1].turn->number != turn->number) ++round;
    if (const auto value = (turn->*figure)(); usable && value > 0.0)
      all.push_back({.contestant = contestant, .round = round, .position = turn->order, .figure = *value});
  }
  return all;
}

// Returns the figure of each turn, with the contestant of the turn before.
std::vector<stats::Observation> by_predecessor(const std::vector<PlacedTurn>& turns, TurnReading figure) {
  std::vector<stats::Observation> all;
  for (std::size_t i = 1; i < turns.size(); ++i) {
    const auto& [contestant, generation, turn, usable] = turns[i];
    if (turns[i - 1].generation != generation || !usable) continue;
    if (const auto value = (turn->*figure)(); value > 0.0)
      all.push_back(
          {.contestant = contestant, .round = 0, .position = turns[i - 1].contestant, .figure = *value});
  }
  return all;
}

// Warns of an effect. Returns false if it is chance, or too small to count. `effects`: how many are looked
// for.
bool warned(Findings& findings, const std::string& place, const stats::Effect& effect, double least,
            std::size_t effects) {
  if (effect.chance >= kChance / static_cast<double>(effects) || effect.spread <= least) return false;
  findings.warn("the {} mattered: {} between the best and the worst, p={:.3f}", place,
                spread_text(effect.spread, 1), effect.chance);
  return true;
}

void judge(Findings& findings, const std::string& place, const stats::Effect& effect, double least) {
  if (!warned(findings, place, effect, least, 1))
    findings.say("no effect of the {} beyond chance ({}, p={:.2f})", place, spread_text(effect.spread, 1),
                 effect.chance);
}

// Looks for effects of the order of turns, and of the contestant before, on throughput and cost. (At a rate
// the throughput is given.)
void judge_turns(Findings& findings, const RaceResult& race, const CaseResult& one) {
  const std::vector<PlacedTurn> turns = turns_of(one);
  struct Ranked {
    const char* name;
    TurnReading figure;
    double least;
  };
  std::vector<Ranked> figures;
  if (!one.ranked_by_latency())
    figures.push_back({"throughput", &Turn::throughput_per_s, one.ranking.measure.least});
  figures.push_back({"cost", &Turn::server_cpu_us_per_message, one.costs.measure.least});
  const std::size_t effects = 2 * figures.size();
  bool any = false;
  for (const Ranked& each : figures) {
    any |= warned(findings, fmt::format("place among turns on {}", each.name),
                  stats::position_effect(by_order(turns, each.figure), race.seed, each.least), each.least,
                  effects);
    any |= warned(findings, fmt::format("contestant before on {}", each.name),
                  stats::carry_over_effect(by_predecessor(turns, each.figure), race.seed, each.least),
                  each.least, effects);
  }
  if (!any) findings.say("no effect of the place among turns, nor of the contestant before, that counts");
}

}  // namespace

CheckResult check_order(const RaceResult& race, const CaseResult& one) {
  Findings findings(5, "order and drift");
  const std::vector<stats::Observation> all = observations_of(one);
  std::set<std::size_t> rounds;
  for (const stats::Observation& each : all) rounds.insert(each.round);
  if (rounds.size() < kRoundsThatShowOrder) {
    findings.doubt("nothing to check: {} measured, and it takes {} to tell an effect from chance",
                   counted(rounds.size(), "round"), kRoundsThatShowOrder);
    findings.say("random order, seed {}", race.seed);
    return findings.take();
  }
  const double least = one.ranking.measure.least;
  judge(findings, "position in the round", stats::position_effect(all, race.seed), least);
  if (one.plan.load.turns) {  // compared turn by turn, so what differs between generations cancels out
    findings.say("rounds differed by {}", spread_text(stats::round_effect(all, race.seed).spread, 1));
    judge_turns(findings, race, one);
  } else {
    judge(findings, "round", stats::round_effect(all, race.seed), least);
  }
  findings.say("random order, seed {}", race.seed);
  return findings.take();
}

}  // namespace joust::race
