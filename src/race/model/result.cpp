// SPDX-License-Identifier: MIT
#include "race/model/result.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace joust::race {

std::optional<double> LatencyFigure::of(const Distribution& latencies) const {
  if (!quantile) return latencies.count() == 0 ? std::nullopt : std::optional(latencies.mean());
  const auto value = latencies.percentile(*quantile);
  return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

std::optional<Pair> Comparison::of(const std::string& name, const std::string& other) const {
  for (const Pair& pair : pairs) {
    if (pair.a == name && pair.b == other) return pair;
    if (pair.a == other && pair.b == name) {
      Pair turned = pair;
      std::swap(turned.a, turned.b);
      turned.ratio = stats::inverse(pair.ratio);
      if (pair.all_turns) turned.all_turns = stats::inverse(*pair.all_turns);
      return turned;
    }
  }
  return std::nullopt;
}

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
