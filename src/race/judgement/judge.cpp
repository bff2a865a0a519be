// SPDX-License-Identifier: MIT
#include <algorithm>

#include "race/checks/checks.hpp"
#include "race/judgement/summary.hpp"
#include "race/race.hpp"
#include "stats/ties.hpp"

namespace joust::race {
namespace {

// Excludes barred contestants from the ranking, each with the first reason.
void apply_bars(CaseResult& one) {
  for (const CheckResult& check : one.checks)
    for (Entry& entry : one.entries) {
      if (!entry.is_contestant()) continue;
      const std::string& name = entry.contestant.name;
      if (std::ranges::count(check.at_least, name) != 0) entry.at_least = true;
      const auto bar = check.bars.find(name);
      if (bar == check.bars.end() || !entry.ranked) continue;
      entry.ranked = false;
      entry.reason = bar->second;
    }
}

// The least difference that counts, from the noise of the reference's second entry; infinite without one.
double least_difference(const RaceResult& race, const CaseResult& one) {
  const Entry* reference = find_entry(one, one.reference);
  const Entry* again = second_entry(one);
  if (reference == nullptr || again == nullptr) return std::numeric_limits<double>::infinity();
  return stats::least_difference(ratio_of(*again, *reference, rounds_begun(one), race.seed));
}

void group_ties(const RaceResult& race, CaseResult& one) {
  std::vector<Entry*> ranked;
  std::vector<stats::Rounds> figures;
  for (Entry& entry : one.entries) {
    if (!entry.is_contestant() || !entry.ranked || entry.summary.trials == 0) continue;
    ranked.push_back(&entry);
    figures.push_back(throughput_by_round(entry, rounds_begun(one)));
  }
  const std::vector<int> groups = stats::tie_groups(figures, one.least_difference, {.seed = race.seed});
  for (std::size_t i = 0; i < ranked.size(); ++i)
    if (groups[i] > 0) ranked[i]->tie_group = groups[i];
}

bool was_tried(const CaseResult& one) {
  return std::ranges::any_of(
      one.entries, [](const Entry& entry) { return entry.is_contestant() && !entry.trials.empty(); });
}

// Whether a contestant's figure may be believed. A lower bound is what it says; an answer that is wrong or
// missing (check 3) leaves nothing to believe.
bool is_sound(const CaseResult& one, const Entry& entry) {
  if (!entry.is_contestant() || entry.summary.trials == 0) return false;
  const auto answers = std::ranges::find(one.checks, 3, &CheckResult::id);
  if (answers == one.checks.end() || answers->bars.contains(entry.contestant.name)) return false;
  return entry.ranked || entry.at_least;
}

bool nobody_is_sound(const CaseResult& one) {
  return std::ranges::none_of(one.entries, [&](const Entry& entry) { return is_sound(one, entry); });
}

}  // namespace

void run_checks(RaceResult& race, CaseResult& one) {
  one.checks = {check_generator(race, one), check_answers(race, one), check_parity(race, one),
                check_books(race, one)};
  // Errors explain more than the ceiling does, so their reason comes first.
  std::ranges::sort(one.checks, {}, [](const CheckResult& check) { return check.id == 1 ? 100 : check.id; });
  apply_bars(one);
  one.least_difference = least_difference(race, one);
  group_ties(race, one);
  for (const auto check :
       {check_same_twice, check_order, check_interference, check_enough, check_ties, check_environment})
    one.checks.push_back(check(race, one));
  std::ranges::sort(one.checks, {}, &CheckResult::id);
}

void judge(RaceResult& race) {
  for (CaseResult& one : race.cases) {
    summarize(one, race.seed);
    run_checks(race, one);
    one.verdict = verdict_of(race, one);
  }
}

int exit_code(const RaceResult& race) {
  if (!race.complete || std::ranges::none_of(race.cases, was_tried)) return 1;
  for (const CaseResult& one : race.cases)
    if (std::ranges::any_of(one.checks, &CheckResult::invalidates) ||
        (was_tried(one) && nobody_is_sound(one)))
      return 3;
  return 0;
}

}  // namespace joust::race
