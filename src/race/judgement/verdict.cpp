// SPDX-License-Identifier: MIT
#include "race/judgement/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.hpp"
#include "base/words.hpp"
#include "race/figures/ranking.hpp"
#include "race/figures/wording.hpp"
#include "race/model/entries.hpp"

namespace joust::race {
namespace {

// Joins names: "a", "a and b", "a, b and c".
std::string enumerate(const std::vector<std::string>& names) {
  if (names.size() < 2) return names.empty() ? "none" : names.front();
  const std::vector<std::string> first(names.begin(), names.end() - 1);
  return fmt::format("{} and {}", join(first), names.back());
}

std::string interval_text(const Estimate& ratio, int digits = 2) {
  return interval_words(ratio.interval, digits);
}

std::string unseen(const CaseResult& one) {
  return fmt::format("differences below {} are not seen", spread_text(one.least_difference, 1));
}

// Explains why an entry is in another place than the reference, though the two are not told apart: a place is
// formed around its best entry, and ties are not transitive.
std::string place_in_words(const Entry& entry, const Entry& reference) {
  if (!entry.tie_group || !reference.tie_group || entry.tie_group == reference.tie_group) return {};
  const Entry& behind = *entry.tie_group > *reference.tie_group ? entry : reference;
  const Entry& ahead = &behind == &entry ? reference : entry;
  return fmt::format(", and {} has place {} because another one of place {} is ahead of it",
                     in_list(behind.contestant.name), *behind.tie_group, *ahead.tie_group);
}

// Compares an entry with the reference. Empty where a bound does not prove which of the two is faster.
std::vector<std::string> against_reference(const Entry& entry, const Entry& reference,
                                           const CaseResult& one) {
  const Estimate& ratio = *ranked_ratio(one, entry);
  const std::string& name = entry.contestant.name;
  const char* const bound = entry.at_least ? "at least " : reference.at_least ? "at most " : "";
  const std::string times = fmt::format("{}{}x", bound, ratio_words(ratio.median, 2));
  const std::string interval = interval_text(ratio);
  if (entry.told_apart && one.ranked_by_latency())
    return {fmt::format("the {} of {} is {} that of {} ({})", one.latency->words, name, times, one.reference,
                        interval)};
  if (entry.told_apart) return {fmt::format("{} is {} {} ({})", name, times, one.reference, interval)};
  if (entry.at_least || reference.at_least) return {};
  return {fmt::format("{} cannot be told from {} ({}, {}{}){}", name, one.reference, times, interval,
                      ratio.interval.contains(1) ? "" : "; " + unseen(one),
                      place_in_words(entry, reference))};
}

// Compares the costs. CPU time is no bound, whichever side was the limit. Empty where costs are not told
// apart.
std::vector<std::string> cost_sentence(const std::vector<const Entry*>& ranked, const CaseResult& one) {
  std::vector<std::string> costs;
  for (const Entry* entry : ranked)
    if (entry->cost_told_apart)
      costs.push_back(fmt::format("{} {}x ({})", in_list(entry->contestant.name),
                                  ratio_words(entry->summary.cost_ratio->median, 3),
                                  interval_text(*entry->summary.cost_ratio, 3)));
  if (costs.empty()) return {};
  return {fmt::format("a {} costs {} the server CPU time of {}", one.plan.unit(), enumerate(costs),
                      one.reference)};
}

// Returns the ranked contestants, the best first.
std::vector<const Entry*> ranking(const CaseResult& one) {
  std::vector<const Entry*> ranked;
  for (const Entry* entry : contestants_of(one))
    if (entry->ranked && entry->tie_group) ranked.push_back(entry);
  std::ranges::stable_sort(ranked, {}, [&](const Entry* entry) {
    const double figure = ranked_figure(one, *entry)->median;
    return one.ranked_by_latency() ? figure : -figure;
  });
  return ranked;
}

// Returns the contestants whose throughput is a lower bound.
std::vector<const Entry*> bounds_of(const CaseResult& one) {
  std::vector<const Entry*> bounds = contestants_of(one);
  std::erase_if(bounds, [](const Entry* entry) { return !entry->at_least || entry->summary.trials == 0; });
  return bounds;
}

std::string names_of(const std::vector<const Entry*>& entries) {
  std::vector<std::string> names;
  for (const Entry* entry : entries) names.push_back(in_list(entry->contestant.name));
  return enumerate(names);
}

// Orders the contestants by cost: "b, then a and c (not told apart)". Empty where fewer than two have a
// place.
std::vector<std::string> order_by_cost(const CaseResult& one) {
  std::map<int, std::vector<const Entry*>> groups;
  std::size_t places = 0;
  for (const Entry* entry : contestants_of(one))
    if (entry->cost_tie_group) groups[*entry->cost_tie_group].push_back(entry), ++places;
  if (places < 2) return {};
  if (groups.size() == 1) return {"nor are their costs told apart"};
  std::vector<std::string> order;
  for (const auto& [group, entries] : groups)
    order.push_back(names_of(entries) + (entries.size() > 1 ? " (not told apart)" : ""));
  return {fmt::format("by the server's CPU time per {} the order is {}", one.plan.unit(),
                      join(order, ", then "))};
}

// Describes the contestants with bounds. In a load with an interval, the schedule may have been the limit.
std::vector<std::string> bound_sentences(const std::vector<const Entry*>& bounds, bool nobody_else,
                                         const CaseResult& one) {
  if (bounds.empty()) return {};
  const char* const limit = one.plan.load.interval.count() > 0 ? "load" : "client";
  std::vector<std::string> sentences{fmt::format(
      "the {} was the limit of {}, {}", limit, names_of(bounds),
      nobody_else ? "so throughput gives no ranks" : "so throughput is only a lower bound there")};
  for (std::string& order : order_by_cost(one)) sentences.push_back(std::move(order));
  return sentences;
}

std::string alone(const CaseResult& one, const Entry& entry) {
  const Summary& summary = entry.summary;
  if (one.plan.files)
    return fmt::format("{} moves {} MB/s", one.reference, format_count(summary.mb_per_s.value_or(0)));
  if (!one.ranked_by_latency())
    return fmt::format("{} answers {}{} messages/s", one.reference, entry.at_least ? "at least " : "",
                       format_count(summary.throughput_per_s->median));
  const std::string latency = format_duration(Duration(std::llround(ranked_figure(one, entry)->median)));
  if (one.latency == &kP99Latency) return fmt::format("{} answers 99 % within {}", one.reference, latency);
  return fmt::format("{} answers with a {} of {}", one.reference, one.latency->words, latency);
}

std::string too_few(std::uint64_t rounds) {
  if (rounds < 2)
    return "one round tells nothing of the contestants, because its noise is not known: race for at least "
           "two rounds, better for five (--rounds 5, or a longer --time)";
  return fmt::format(
      "{} rounds do not tell who is faster, because the noise is too large: race for more rounds (--rounds, "
      "--time)",
      rounds);
}

// Describes a case without places. Costs are steadier than the figure that ranks, and may be told apart all
// the same.
std::vector<std::string> without_places(const CaseResult& one) {
  std::vector<std::string> sentences{too_few(rounds_of(one))};
  for (std::string& cost : cost_sentence(contestants_of(one), one)) sentences.push_back(std::move(cost));
  return sentences;
}

// Names the reference that is used in place of an entry that was asked for.
std::string instead_of(const std::string& wanted, const Entry& entry, const CaseResult& one) {
  const bool is_other = entry.contestant.name == wanted && !one.reference.empty() && one.reference != wanted;
  return is_other ? fmt::format(", so the ratios are to {}", one.reference) : std::string();
}

std::vector<std::string> rank_sentences(const CaseResult& one) {
  if (no_place_is_told(one)) return without_places(one);
  const std::vector<const Entry*> ranked = ranking(one), bounds = bounds_of(one);
  std::vector<const Entry*> all = ranked;
  all.insert(all.end(), bounds.begin(), bounds.end());
  if (all.empty()) return {"no contestant can be ranked"};
  if (all.size() == 1 && all.front()->contestant.name == one.reference) return {alone(one, *all.front())};
  std::vector<std::string> sentences;
  const Entry* reference = find_entry(one, one.reference);
  const bool comparable = reference->ranked || reference->at_least;
  std::map<int, std::vector<std::string>> groups;
  for (const Entry* entry : all) {
    const bool with_reference =
        entry == reference ||
        (reference->tie_group && entry->tie_group == reference->tie_group && !entry->told_apart);
    if (entry->tie_group && (with_reference || entry->tie_group != reference->tie_group))
      groups[*entry->tie_group].push_back(in_list(entry->contestant.name));
    if (with_reference || !comparable || !ranked_ratio(one, *entry)) continue;
    for (std::string& words : against_reference(*entry, *reference, one)) sentences.push_back(words);
  }
  for (const auto& [group, names] : groups)
    if (names.size() > 1)
      sentences.push_back(fmt::format("{} cannot be told apart here ({})", enumerate(names), unseen(one)));
  for (std::string& bound : bound_sentences(bounds, ranked.empty(), one)) sentences.push_back(bound);
  for (std::string& cost : cost_sentence(all, one)) sentences.push_back(std::move(cost));
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
      sentences.push_back(fmt::format("{} is not ranked ({}){}", entry.contestant.name, entry.reason,
                                      instead_of(race.scenario.reference, entry, one)));
  if (!race.complete) sentences.push_back(fmt::format("the race is incomplete: {}", race.incomplete));
  const std::string rate = one.ranked_by_latency()
                               ? fmt::format("At {} messages/s: ", format_rate(one.plan.load.rate_per_s))
                               : std::string();
  return fmt::format("{}{}.", rate, join(sentences, "; "));
}

}  // namespace joust::race
