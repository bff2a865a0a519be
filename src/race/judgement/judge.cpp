// SPDX-License-Identifier: MIT
#include "race/judgement/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "race/checks/checks.hpp"
#include "race/figures/ranking.hpp"
#include "race/figures/summary.hpp"
#include "race/figures/uneven_turns.hpp"
#include "race/figures/wording.hpp"
#include "race/judgement/causes.hpp"
#include "race/judgement/thresholds.hpp"
#include "race/judgement/verdict.hpp"

namespace joust::race {
namespace {

// Excludes barred contestants from the ranking, each with the first reason. The check that finds bounds is
// the last. It is ignored for a contestant that an earlier check has barred.
void apply_bars(CaseResult& one) {
  for (const CheckResult& check : one.checks)
    for (Entry& entry : one.entries) {
      if (!entry.is_contestant()) continue;
      const std::string& name = entry.contestant.name;
      if (entry.ranked && std::ranges::count(check.at_least, name) != 0) entry.at_least = true;
      if (entry.ranked && std::ranges::count(check.limit_unknown, name) != 0) entry.limit_unknown = true;
      const auto bar = check.bars.find(name);
      if (bar == check.bars.end() || !entry.ranked) continue;
      entry.ranked = false;
      entry.reason = bar->second;
    }
}

// Stores the places. In a first round that did not end, those that were not reached have none, so no other
// has one either.
void apply_places(const Ranking& ranking, std::optional<stats::Places> Entry::*place, const RaceResult& race,
                  CaseResult& one) {
  const bool is_cut = race.rounds == 0 && !race.complete;
  for (std::size_t i = 0; i < one.entries.size(); ++i)
    one.entries[i].*place = is_cut ? std::nullopt : ranking.ranks[i].place;
}

// A difference that does not count leaves contestants equal, whatever precision the race was to reach.
stats::Measure measure_of(const RaceResult& race) {
  const double least = race.scenario.least_difference;
  return {.least = least, .equal = std::max(least, race.scenario.precision)};
}

// Stores the ratios by one figure. `ratio` returns the member of a summary that holds the ratio.
template <typename Ratio>
void apply_ratios(const Ranking& ranking, CaseResult& one, Ratio ratio) {
  for (std::size_t i = 0; i < one.entries.size(); ++i) ratio(one.entries[i].summary) = ranking.ranks[i].ratio;
}

void rank_contestants(const RaceResult& race, CaseResult& one) {
  Ranking ranking = rank(one, ranked_by(one), measure_of(race));
  one.ranking = std::move(ranking.comparison);
  apply_places(ranking, &Entry::place, race, one);
  if (!one.ranked_by_latency())
    apply_ratios(
        ranking, one, [](Summary & summary) -> auto& { return summary.ratio; });
}

void rank_cost(const RaceResult& race, CaseResult& one) {
  Ranking ranking = rank(one, cost_ranking(one), measure_of(race));
  one.costs = std::move(ranking.comparison);
  apply_places(ranking, &Entry::cost_place, race, one);
  apply_ratios(
      ranking, one, [](Summary & summary) -> auto& { return summary.cost_ratio; });
}

void compare_latencies(const RaceResult& race, CaseResult& one) {
  for (const LatencyFigure& figure : kLatencyFigures)
    apply_ratios(
        rank(one, {latency(figure), stats::Better::smaller}, measure_of(race)),
        one, [&](Summary & summary) -> auto& { return summary.latency_ratio.*figure.estimate; });
}

void run_checks(const RaceResult& race, CaseResult& one, Check::When when) {
  for (const Check& check : checks())
    if (check.when == when && (check.applies == nullptr || check.applies(one)))
      one.checks.push_back(check.look(race, one));
}

// Runs all checks, and ranks the contestants after those that may exclude them.
void run_checks(RaceResult& race, CaseResult& one) {
  one.checks.clear();
  run_checks(race, one, Check::When::before);
  // Errors explain more than the ceiling does, so their reason comes first.
  std::ranges::sort(one.checks, {}, [](const CheckResult& check) { return check.id == 1 ? 100 : check.id; });
  apply_bars(one);
  rank_contestants(race, one);
  rank_cost(race, one);
  compare_latencies(race, one);
  run_checks(race, one, Check::When::after);
  std::ranges::sort(one.checks, {}, &CheckResult::id);
}

bool was_tried(const CaseResult& one) {
  return std::ranges::any_of(
      one.entries, [](const Entry& entry) { return entry.is_contestant() && !entry.trials.empty(); });
}

// Returns whether a contestant's figure is valid. A lower bound is valid as a bound.
bool is_sound(const Entry& entry) {
  return entry.is_contestant() && entry.summary.trials > 0 && (entry.ranked || entry.at_least);
}

// True if several contestants have figures, and neither by the figure that ranks them nor by cost it is known
// of any two that they differ, or that they are equal.
bool tells_nothing(const CaseResult& one) {
  if (!no_place_is_told(one)) return false;
  return std::ranges::none_of(one.costs.pairs,
                              [](const Pair& pair) { return stats::is_decided(pair.decision); });
}

// Returns whether a contestant counts for the ranking. A command that moves no files is only a bound beside
// those that do.
bool was_to_be_ranked(const Entry& entry) {
  return entry.is_contestant() && entry.contestant.moves_files;
}

bool nobody_is_sound(const CaseResult& one) {
  return std::ranges::none_of(one.entries, is_sound);
}

}  // namespace

void judge(RaceResult& race) {
  for (CaseResult& one : race.cases) {
    count_uneven_turns(one);
    summarize(one);
    add_utilisation(race, one);
    run_checks(race, one);
    one.thresholds = compare_with_thresholds(race, one);
    one.verdict = verdict_of(race, one);
    one.causes = causes_of(race, one);
  }
}

std::string invalid_because(const RaceResult& race) {
  std::vector<std::string> not_ranked;
  for (const CaseResult& one : race.cases) {
    const auto of_case = [&](const std::string& what) {
      return race.cases.size() > 1 ? fmt::format("{}: {}", one.plan.name, what) : what;
    };
    for (const CheckResult& check : one.checks)
      if (check.invalidates) return of_case(check.detail);
    if (was_tried(one) && nobody_is_sound(one)) return of_case("no contestant can be ranked");
    if (race.scenario.allow_unranked) continue;
    for (const Entry& entry : one.entries)
      if (was_to_be_ranked(entry) && !is_sound(entry))
        not_ranked.push_back(of_case(in_list(entry.contestant.name)));
  }
  // A case that alone tells nothing says so in its verdict.
  if (std::ranges::all_of(race.cases, tells_nothing) && !race.scenario.allow_nothing)
    return "the race tells nothing of its contestants";
  if (not_ranked.empty()) return {};
  return fmt::format("{} {} not ranked", join(not_ranked), not_ranked.size() == 1 ? "is" : "are");
}

// The sentences of thresholds promise 99, so nothing but the loss of the race itself comes before it.
int exit_code(const RaceResult& race) {
  if (!race.complete || std::ranges::none_of(race.cases, was_tried)) return 1;
  if (!failed_thresholds(race).empty()) return kBeyondThreshold;
  return invalid_because(race).empty() ? 0 : 3;
}

std::string exit_reason(const RaceResult& race) {
  if (!race.complete) return race.incomplete;
  if (std::ranges::none_of(race.cases, was_tried)) return "no contestant can run here";
  const std::vector<std::string> failed = failed_thresholds(race);
  return failed.empty() ? invalid_because(race) : join(failed, "; ");
}

}  // namespace joust::race
