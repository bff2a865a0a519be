// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "race/checks/findings.hpp"
#include "race/judgement/ranking.hpp"
#include "race/judgement/summary.hpp"

namespace joust::race {
namespace {

// "a", "a and b", "a, b and c"
std::string enumerate(const std::vector<std::string>& names) {
  if (names.size() < 2) return names.empty() ? "nobody" : names.front();
  const std::vector<std::string> first(names.begin(), names.end() - 1);
  return fmt::format("{} and {}", join(first), names.back());
}

std::string interval_text(const Estimate& ratio) {
  return ratio.interval.is_known() ? fmt::format("{:.2f} to {:.2f}", ratio.interval.low, ratio.interval.high)
                                   : std::string("one round");
}

// Tie groups are formed around their leaders, so members of different groups may still tie.
std::string against_reference(const Entry& entry, const Entry& reference, const CaseResult& one) {
  const Estimate& ratio = *ranked_ratio(one, entry);
  const std::string& name = entry.contestant.name;
  if (entry.at_least && reference.at_least)
    return fmt::format("{} is not compared with {}: the load was the limit of both", name, one.reference);
  const char* const bound = entry.at_least ? "at least " : reference.at_least ? "at most " : "";
  const std::string times = fmt::format("{}{:.2f}x", bound, ratio.median);
  if (!entry.told_apart)
    return fmt::format("{} cannot be told from {} ({}, {})", name, one.reference, times,
                       interval_text(ratio));
  if (one.ranked_by_latency())
    return fmt::format("the p99 latency of {} is {} that of {} ({})", name, times, one.reference,
                       interval_text(ratio));
  return fmt::format("{} is {} {} ({})", name, times, one.reference, interval_text(ratio));
}

// CPU time is no bound, whichever side was the limit. Empty where costs are not told apart.
std::vector<std::string> cost_sentence(const std::vector<const Entry*>& ranked, const CaseResult& one) {
  std::vector<std::string> costs;
  for (const Entry* entry : ranked)
    if (entry->cost_told_apart)
      costs.push_back(fmt::format("{} {:.3f}x", entry->contestant.name, entry->summary.cost_ratio->median));
  if (costs.empty()) return {};
  return {fmt::format("a message costs {} the server CPU time of {}", enumerate(costs), one.reference)};
}

// Ranked contestants, the best first.
std::vector<const Entry*> ranking(const CaseResult& one) {
  std::vector<const Entry*> ranked;
  for (const Entry* entry : contestants_of(one))
    if (entry->ranked && entry->tie_group) ranked.push_back(entry);
  std::ranges::stable_sort(ranked, {}, [&](const Entry* entry) {
    const Summary& summary = entry->summary;
    return one.ranked_by_latency() ? summary.latency_by_round.p99->median : -summary.throughput_per_s->median;
  });
  return ranked;
}

std::string alone(const CaseResult& one, const Entry& entry) {
  const Summary& summary = entry.summary;
  if (!one.ranked_by_latency())
    return fmt::format("{} answers {} messages/s", one.reference,
                       format_count(summary.throughput_per_s->median));
  const Duration p99(std::llround(summary.latency_by_round.p99->median));
  return fmt::format("{} answers 99 % within {}", one.reference, format_duration(p99));
}

std::vector<std::string> rank_sentences(const CaseResult& one) {
  const std::vector<const Entry*> ranked = ranking(one);
  if (ranked.empty()) return {"no contestant can be ranked"};
  if (ranked.size() == 1 && ranked.front()->contestant.name == one.reference)
    return {alone(one, *ranked.front())};
  std::vector<std::string> sentences;
  const Entry* reference = find_entry(one, one.reference);
  std::map<int, std::vector<std::string>> groups;
  for (const Entry* entry : ranked) {
    groups[*entry->tie_group].push_back(entry->contestant.name);
    const bool with_reference =
        entry == reference || (reference->tie_group && entry->tie_group == reference->tie_group);
    if (!with_reference && reference->ranked && ranked_ratio(one, *entry))
      sentences.push_back(against_reference(*entry, *reference, one));
  }
  for (const auto& [group, names] : groups)
    if (names.size() > 1) sentences.push_back(enumerate(names) + " cannot be told apart here");
  for (std::string& cost : cost_sentence(ranked, one)) sentences.push_back(std::move(cost));
  return sentences;
}

}  // namespace

std::string verdict_of(const RaceResult& race, const CaseResult& one) {
  std::vector<std::string> sentences;
  for (const CheckResult& check : one.checks)
    if (check.invalidates)
      sentences.push_back(fmt::format("Invalid, compare nothing here: {}", check.detail));
  if (sentences.empty()) sentences = rank_sentences(one);
  for (const Entry& entry : one.entries)
    if (entry.is_contestant() && !entry.ranked)
      sentences.push_back(fmt::format("{} is not ranked ({})", entry.contestant.name, entry.reason));
  if (!race.complete) sentences.push_back(fmt::format("the race is incomplete: {}", race.incomplete));
  const std::string rate = one.ranked_by_latency()
                               ? fmt::format("At {} messages/s: ", format_rate(*one.plan.load.rate_per_s))
                               : std::string();
  return fmt::format("{}{}.", rate, join(sentences, "; "));
}

}  // namespace joust::race
