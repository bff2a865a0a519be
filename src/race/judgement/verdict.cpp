// SPDX-License-Identifier: MIT
#include "race/judgement/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "base/units.hpp"
#include "race/figures/disturbance.hpp"
#include "race/figures/ranking.hpp"
#include "race/figures/summary.hpp"
#include "race/figures/wording.hpp"
#include "race/judgement/causes.hpp"
#include "race/judgement/sentences.hpp"
#include "race/model/result.hpp"

namespace joust::race {
namespace {

// Returns the pairs of contestants with the reference, in the order of the contestants.
std::vector<Pair> pairs_with_reference(const Comparison& comparison, const std::vector<const Entry*>& entries,
                                       const std::string& reference) {
  std::vector<Pair> pairs;
  for (const Entry* entry : entries)
    if (auto pair = comparison.of(entry->contestant.name, reference)) pairs.push_back(std::move(*pair));
  return pairs;
}

// Compares the costs with that of the reference. A side that polls has none.
std::vector<std::string> costs_of(std::vector<const Entry*> entries, const RaceResult& race,
                                  const CaseResult& one) {
  std::erase_if(entries, [](const Entry* entry) { return entry->server_polls(); });
  const Entry* const reference = find_entry(one, one.reference);
  if (reference == nullptr || reference->server_polls()) return {};
  return cost_sentences(pairs_with_reference(one.costs, entries, one.reference), race, one);
}

// Returns the ranked contestants, the best first.
std::vector<const Entry*> ranking(const CaseResult& one) {
  std::vector<const Entry*> ranked;
  for (const Entry* entry : contestants_of(one))
    if (entry->ranked && entry->place) ranked.push_back(entry);
  std::ranges::stable_sort(ranked, {}, [&](const Entry* entry) {
    const double figure = ranked_figure(one, *entry)->median;
    return one.ranked_by_latency() ? figure : -figure;
  });
  return ranked;
}

// Returns the contestants with results of which this is true.
std::vector<const Entry*> those(const CaseResult& one, bool Entry::*is_true) {
  std::vector<const Entry*> found = contestants_of(one);
  std::erase_if(found, [&](const Entry* entry) { return !(entry->*is_true) || entry->summary.trials == 0; });
  return found;
}

// Says how many messages the client exchanged with contestants that may be faster.
std::vector<std::string> with_this_client(const std::vector<const Entry*>& entries, const CaseResult& one) {
  std::vector<std::string> sentences;
  for (const Pair& pair : pairs_with_reference(one.ranking, entries, one.reference))
    if (pair.understated && pair.decision == stats::Decision::undecided && stats::is_told(pair.ratio))
      sentences.push_back(
          fmt::format("With this client {} answered {}", in_list(pair.a),
                      times_text(pair.ratio, Known::both, "as many messages as " + in_list(pair.b))));
  return sentences;
}

std::string alone(const CaseResult& one, const Entry& entry) {
  const Summary& summary = entry.summary;
  if (one.plan.files)
    return fmt::format("{} moves {} MB/s", one.reference, format_count(summary.mb_per_s.value_or(0)));
  if (!one.ranked_by_latency())
    return fmt::format("{} answers {}{} messages/s", one.reference,
                       entry.at_least        ? "at least "
                       : entry.limit_unknown ? "perhaps more than "
                                             : "",
                       format_count(summary.throughput_per_s->median));
  const std::string latency = format_ns(ranked_figure(one, entry)->median);
  if (one.latency == &kP99Latency) return fmt::format("{} answers 99 % within {}", one.reference, latency);
  return fmt::format("{} answers with a {} of {}", one.reference, one.latency->words, latency);
}

std::string too_few(const CaseResult& one) {
  if (rounds_of(one) < 2 && !std::isfinite(one.ranking.least_difference))
    return "No answer: one round does not show the noise. Race for at least two rounds, better for five "
           "(--rounds 5, or a longer --time)";
  const double least = one.ranking.least_difference;
  return fmt::format(
      "No answer: {} on this machine {} too noisy{}. Race for longer (--time, --rounds), or "
      "when it is quiet",
      counted(rounds_of(one), "round"), rounds_of(one) == 1 ? "was" : "were",
      least < stats::kMostShown ? fmt::format(", and only a factor of {:.2g} would have been seen", 1 + least)
                                : std::string());
}

std::string no_answer(const CaseResult& one) {
  const Entry* const reference = find_entry(one, one.reference);
  if (reference != nullptr && !reference->ranked && !reference->may_be_faster())
    return fmt::format("No answer: the reference {} is not ranked, so nothing is compared with it",
                       in_list(one.reference));
  if (one.plan.load.interval.count() > 0 && is_limited_by_client(one))
    return "No answer by throughput: contestants kept pace with the schedule";
  const bool is_disturbed = std::ranges::any_of(
      strangers_in(one), [](const Strangers& strangers) { return strangers.share > kStrangers; });
  if (is_disturbed && is_limited_by_client(one) && those(one, &Entry::at_least).empty())
    return "No answer: other programs used the CPUs, so it is not known which side was the limit";
  return is_limited_by_client(one) ? "No answer: the client was the limit, or may have been" : too_few(one);
}

// Describes a case without places by the figure that ranks: where the client may have been the limit, that is
// the reason, and not noise. Costs are steadier than that figure, and may be told apart all the same.
std::vector<std::string> without_places(const RaceResult& race, const CaseResult& one,
                                        std::vector<std::string> measured) {
  const auto is_decided = [](const Pair& pair) { return pair.decision != stats::Decision::undecided; };
  std::vector<std::string> sentences = std::move(measured);
  if (!is_limited_by_client(one)) sentences.insert(sentences.begin(), too_few(one));
  if (std::ranges::any_of(pairs_with_reference(one.costs, contestants_of(one), one.reference), is_decided))
    for (std::string& cost : costs_of(contestants_of(one), race, one)) sentences.push_back(std::move(cost));
  if (!sentences.empty()) return sentences;
  return {no_answer(one)};
}

// Names the reference that is used in place of an entry that was asked for.
std::string instead_of(const std::string& wanted, const Entry& entry, const CaseResult& one) {
  const bool is_other = entry.contestant.name == wanted && !one.reference.empty() && one.reference != wanted;
  return is_other ? fmt::format(", so the ratios are to {}", one.reference) : std::string();
}

// Names the contestants without a result. Their rows in the table have the reasons.
std::string without_result(const RaceResult& race, const CaseResult& one) {
  std::vector<std::string> names;
  std::string instead;
  for (const Entry& entry : one.entries)
    if (entry.is_contestant() && !entry.ranked && entry.summary.trials == 0) {
      names.push_back(in_list(entry.contestant.name));
      instead += instead_of(race.scenario.reference, entry, one);
    }
  if (names.empty()) return {};
  return fmt::format("{} not ranked, without a result{}",
                     enumerate(names) + (names.size() == 1 ? " is" : " are"), instead);
}

std::vector<std::string> rank_sentences(const RaceResult& race, const CaseResult& one) {
  const std::vector<const Entry*> ranked = ranking(one), bounds = those(one, &Entry::at_least),
                                  unknown = those(one, &Entry::limit_unknown);
  if (no_place_is_told(one)) return without_places(race, one, with_this_client(unknown, one));
  std::vector<const Entry*> all = ranked;
  all.insert(all.end(), bounds.begin(), bounds.end());
  all.insert(all.end(), unknown.begin(), unknown.end());
  if (all.empty()) return {"No contestant can be ranked"};
  if (all.size() == 1 && all.front()->contestant.name == one.reference) return {alone(one, *all.front())};
  const Entry* const reference = find_entry(one, one.reference);
  const bool comparable = reference->ranked || reference->at_least;
  std::vector<std::string> sentences;
  const auto add = [&](std::vector<std::string> more) {
    for (std::string& sentence : more) sentences.push_back(std::move(sentence));
  };
  if (comparable) add(figure_sentences(pairs_with_reference(one.ranking, all, one.reference), race, one));
  if (one.plan.load.interval.count() == 0) add(with_this_client(bounds, one));
  add(with_this_client(unknown, one));
  if (comparable) add(costs_of(all, race, one));
  if (sentences.empty()) sentences.push_back(no_answer(one));
  return sentences;
}

}  // namespace

std::string verdict_of(const RaceResult& race, const CaseResult& one) {
  std::vector<std::string> sentences;
  for (const CheckResult& check : one.checks)
    if (check.invalidates)
      sentences.push_back(fmt::format("Invalid, compare nothing here: {}", check.detail));
  if (sentences.empty()) sentences = rank_sentences(race, one);
  for (const Entry& entry : one.entries)
    if (entry.is_contestant() && !entry.ranked && entry.summary.trials > 0)
      sentences.push_back(fmt::format("{} is not ranked ({}){}", entry.contestant.name, entry.reason,
                                      instead_of(race.scenario.reference, entry, one)));
  if (std::string without = without_result(race, one); !without.empty())
    sentences.push_back(std::move(without));
  if (one.verified.empty())
    sentences.push_back("The replies were not verified, or not all: a wrong one counts too");
  if (!race.complete) sentences.push_back(fmt::format("The race is incomplete: {}", race.incomplete));
  if (one.ranked_by_latency())
    sentences.front().insert(0, fmt::format("At {} messages/s: ", format_rate(one.plan.load.rate_per_s)));
  return join(sentences, ".\n") + ".";
}

std::string interim_text(const CaseResult& one, std::optional<double> goal) {
  const Entry* const reference = find_entry(one, one.reference);
  if (reference == nullptr || rounds_begun(one) == 0) return {};
  const RankedBy by = ranked_by(one);
  std::vector<std::string> parts;
  for (const Entry& entry : one.entries) {
    if (!entry.is_contestant() || &entry == reference) continue;
    const stats::Ratio ratio = stats::compare(log_ratios(one, entry, *reference, by));
    if (ratio.rounds == 0) continue;
    std::string part = fmt::format("{} {}", in_list(entry.contestant.name), ratio_words(ratio.estimate, 2));
    if (ratio.interval.is_known())
      part += fmt::format(" ± {}",
                          spread_text(std::expm1(std::log(ratio.interval.high / ratio.interval.low) / 2)));
    parts.push_back(std::move(part));
  }
  if (parts.empty()) return {};
  if (goal) parts.push_back(fmt::format("goal {}", spread_text(*goal)));
  return fmt::format("to {}: {}", one.reference, join(parts));
}

std::vector<std::string> interim_warnings(const CaseResult& one, const CpuPlan& cpus) {
  std::vector<std::string> warnings;
  for (const Entry& entry : one.entries) {
    if (!entry.is_contestant() || entry.trials.empty()) continue;
    const Trial& latest = entry.trials.back();
    if (const Disturbance worst = disturbance_of(latest, entry.in_process); worst.severity > 1)
      warnings.push_back(fmt::format("{} {}", entry.contestant.name, worst.what));
    const auto used = entry.in_process || entry.polls() ? std::nullopt : client_utilisation(cpus, latest);
    if (used && *used > kClientIsLimit)
      warnings.push_back(fmt::format("the client of {} is full ({})", entry.contestant.name, percent(*used)));
  }
  return warnings;
}

}  // namespace joust::race
