// SPDX-License-Identifier: MIT
#include "race/result.hpp"

#include <algorithm>

namespace joust::race {

std::vector<const Trial*> usable_trials(const Entry& entry) {
  std::vector<const Trial*> usable;
  for (const Trial& trial : entry.trials)
    if (trial.counted && trial.measured()) usable.push_back(&trial);
  return usable;
}

const Entry* find_entry(const CaseResult& result, const std::string& name, EntryKind kind) {
  const auto found = std::ranges::find_if(result.entries, [&](const Entry& entry) {
    return entry.kind == kind && entry.contestant.name == name;
  });
  return found == result.entries.end() ? nullptr : &*found;
}

const Entry* second_entry(const CaseResult& result) {
  const auto found = std::ranges::find_if(result.entries, [&](const Entry& entry) {
    return entry.kind == EntryKind::again && entry.repeats == result.reference;
  });
  return found == result.entries.end() ? nullptr : &*found;
}

}  // namespace joust::race
