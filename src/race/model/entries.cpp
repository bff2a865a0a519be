// SPDX-License-Identifier: MIT
#include "race/model/entries.hpp"

#include <algorithm>
#include <set>

namespace joust::race {

std::vector<const Entry*> contestants_of(const CaseResult& one) {
  std::vector<const Entry*> all;
  for (const Entry& entry : one.entries)
    if (entry.is_contestant() && entry.unavailable.empty()) all.push_back(&entry);
  return all;
}

std::vector<const Entry*> entries_of_contestants(const CaseResult& one) {
  std::vector<const Entry*> all = contestants_of(one);
  for (const Entry& entry : one.entries)
    if (entry.kind == EntryKind::again && entry.unavailable.empty()) all.push_back(&entry);
  return all;
}

bool anything_measured(const CaseResult& one) {
  for (const Entry* entry : contestants_of(one))
    if (!usable_trials(*entry).empty()) return true;
  return false;
}

const std::string& answerable(const Entry& entry) {
  return entry.kind == EntryKind::again ? entry.repeats : entry.contestant.name;
}

std::uint64_t rounds_begun(const CaseResult& one) {
  std::uint64_t last = 0;
  for (const Entry& entry : one.entries)
    for (const Trial& trial : entry.trials) last = std::max(last, trial.round);
  return last;
}

std::uint64_t rounds_of(const CaseResult& one) {
  std::set<std::uint64_t> rounds;
  for (const Entry& entry : one.entries)
    for (const Trial& trial : entry.trials) rounds.insert(trial.round);
  return rounds.size();
}

}  // namespace joust::race
