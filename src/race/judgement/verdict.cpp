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
#include "race/judgement/sentences.hpp"
#include "race/model/result.hpp"

namespace joust::race {
namespace {

// The begin of sentences about what disturbed the race.
constexpr std::string_view kByStrangers = "Another program used ",
                           kByOtherMachines = "Other virtual machines took ";

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

std::string names_of(const std::vector<const Entry*>& entries) {
  std::vector<std::string> names;
  for (const Entry* entry : entries) names.push_back(in_list(entry->contestant.name));
  return enumerate(names);
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

// Describes the contestants with bounds. Two bounds prove nothing of the servers, but how many messages this
// client exchanged with each is measured.
std::vector<std::string> bound_sentences(const std::vector<const Entry*>& bounds, const CaseResult& one) {
  if (bounds.empty()) return {};
  if (one.plan.load.interval.count() > 0)
    return {
        fmt::format("{} kept pace with the schedule, so {} may be faster than {}: compare latency and CPU",
                    names_of(bounds), bounds.size() == 1 ? "it" : "they",
                    bounds.size() == 1 ? "its throughput" : "their throughput")};
  std::vector<std::string> sentences{
      fmt::format("The client was the limit of {}: so much this client can drive, and the "
                  "servers may differ by more",
                  names_of(bounds))};
  for (std::string& measured : with_this_client(bounds, one)) sentences.push_back(std::move(measured));
  // These protocols are those whose messages may be exchanged for those of work.
  const std::string& protocol = one.plan.protocol;
  const bool may_work = protocol == "echo" || protocol == "uppercase" || protocol == "work";
  sentences.push_back(fmt::format("To compare servers, give the client more CPUs{}",
                                  may_work ? ", or each message more work (-p work --work 10us)" : ""));
  return sentences;
}

// Describes the contestants of which the rounds do not tell whether they, or their clients, were the limit.
std::vector<std::string> unknown_limit_sentences(const std::vector<const Entry*>& unknown,
                                                 const CaseResult& one) {
  if (unknown.empty()) return {};
  std::vector<std::string> sentences{
      fmt::format("Whether the client or the server was the limit is not known of {}: no place by "
                  "throughput",
                  names_of(unknown))};
  for (std::string& measured : with_this_client(unknown, one)) sentences.push_back(std::move(measured));
  return sentences;
}

// Returns whether a sentence is one of disturbance_sentences().
bool is_of_machine(std::string_view sentence) {
  return sentence.starts_with(kByStrangers) || sentence.starts_with(kByOtherMachines);
}

// Names what took a large part of the CPUs from the race.
std::vector<std::string> disturbance_sentences(const CaseResult& one) {
  std::vector<std::string> sentences;
  for (const Strangers& strangers : strangers_in(one))
    if (strangers.share > kStrangers)
      sentences.push_back(fmt::format("{}{} of {}", kByStrangers, percent(strangers.share), strangers.of));
  double steal = 0, known = 0;
  for (const Entry* entry : contestants_of(one))
    for (const Trial* trial : usable_trials(*entry))
      if (const auto share = steal_share(*trial)) steal += *share, ++known;
  if (known > 0 && steal / known > kDisturbedSteal)
    sentences.push_back(fmt::format("{}{} of the CPUs", kByOtherMachines, percent(steal / known)));
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

// Says what the intervals of few rounds are from.
std::vector<std::string> few_starts(const CaseResult& one) {
  const std::uint64_t starts = rounds_of(one);
  if (!one.plan.load.turns || starts > stats::Comparisons::kFewRounds) return {};
  return {fmt::format("That is from {} of the processes: more would make it surer (a longer --time)",
                      counted(starts, "start"))};
}

// Describes a case without places: where the client may have been the limit, that is the reason, and not
// noise. Costs are steadier than the figure that ranks, and may be told apart all the same.
std::vector<std::string> without_places(const RaceResult& race, const CaseResult& one) {
  std::vector<std::string> sentences = unknown_limit_sentences(those(one, &Entry::limit_unknown), one);
  if (sentences.empty()) sentences.push_back(too_few(one));
  const auto is_decided = [](const Pair& pair) { return pair.decision != stats::Decision::undecided; };
  if (std::ranges::none_of(pairs_with_reference(one.costs, contestants_of(one), one.reference), is_decided))
    return sentences;
  for (std::string& cost : costs_of(contestants_of(one), race, one)) sentences.push_back(std::move(cost));
  for (std::string& starts : few_starts(one)) sentences.push_back(std::move(starts));
  return sentences;
}

// Names the reference that is used in place of an entry that was asked for.
std::string instead_of(const std::string& wanted, const Entry& entry, const CaseResult& one) {
  const bool is_other = entry.contestant.name == wanted && !one.reference.empty() && one.reference != wanted;
  return is_other ? fmt::format(", so the ratios are to {}", one.reference) : std::string();
}

std::vector<std::string> rank_sentences(const RaceResult& race, const CaseResult& one) {
  if (no_place_is_told(one)) return without_places(race, one);
  const std::vector<const Entry*> ranked = ranking(one), bounds = those(one, &Entry::at_least),
                                  unknown = those(one, &Entry::limit_unknown);
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
  add(bound_sentences(bounds, one));
  add(unknown_limit_sentences(unknown, one));
  if (comparable) add(costs_of(all, race, one));
  if (all.size() > 1) add(few_starts(one));
  return sentences;
}

}  // namespace

std::string answer_in(std::string_view verdict) {
  for (const std::string_view sentence : split(verdict, '\n'))
    if (!is_of_machine(sentence)) return std::string(sentence);
  return std::string(verdict);
}

std::string verdict_of(const RaceResult& race, const CaseResult& one) {
  std::vector<std::string> sentences;
  for (const CheckResult& check : one.checks)
    if (check.invalidates)
      sentences.push_back(fmt::format("Invalid, compare nothing here: {}", check.detail));
  if (sentences.empty()) {
    sentences = disturbance_sentences(one);
    for (std::string& rank : rank_sentences(race, one)) sentences.push_back(std::move(rank));
  }
  for (const Entry& entry : one.entries)
    if (entry.is_contestant() && !entry.ranked)
      sentences.push_back(fmt::format("{} is not ranked ({}){}", entry.contestant.name, entry.reason,
                                      instead_of(race.scenario.reference, entry, one)));
  if (one.verified.empty())
    sentences.push_back("The replies were not verified, or not all: a wrong one counts too");
  if (!race.complete) sentences.push_back(fmt::format("The race is incomplete: {}", race.incomplete));
  if (const auto answer = std::ranges::find_if_not(sentences, is_of_machine);
      one.ranked_by_latency() && answer != sentences.end())
    answer->insert(0, fmt::format("At {} messages/s: ", format_rate(one.plan.load.rate_per_s)));
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
