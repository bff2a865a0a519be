// SPDX-License-Identifier: MIT
#include "race/judgement/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

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

// Estimates what would decide all of these pairs.
std::string what_would_decide(const std::vector<Pair>& undecided, const stats::Measure& measure,
                              const RaceResult& race, const CaseResult& one) {
  double times = 1;
  for (const Pair& pair : undecided) times = std::max(times, stats::rounds_to_decide(pair.ratio, measure));
  return what_would_decide(times, race, one);
}

// The pairs of the reference, by what the race says of them.
struct Decisions {
  std::vector<Pair> differ, slight, undecided;  // slight: told apart, but by less than counts
  std::vector<std::string> equal;
};

Decisions decisions_of(const Comparison& comparison, const std::vector<const Entry*>& entries,
                       const std::string& reference) {
  Decisions decisions;
  for (const Entry* entry : entries) {
    const auto pair = comparison.of(entry->contestant.name, reference);
    if (!pair) continue;
    if (pair->decision == stats::Decision::differ)
      decisions.differ.push_back(*pair);
    else if (pair->understated)
      continue;  // the figures prove nothing
    else if (pair->decision == stats::Decision::equal && !stats::is_told(pair->ratio))
      decisions.equal.push_back(in_list(entry->contestant.name));
    else if (pair->decision == stats::Decision::equal)
      decisions.slight.push_back(*pair);
    else
      decisions.undecided.push_back(*pair);
  }
  return decisions;
}

// Joins the pairs that differ too little to count, or that are not decided: "poll 0.99x (0.97 to 1.01)".
std::string pairs_text(const std::vector<Pair>& pairs, int digits) {
  std::vector<std::string> texts;
  for (const Pair& pair : pairs)
    texts.push_back(fmt::format("{} {}x ({})", in_list(pair.a), ratio_words(pair.ratio.estimate, digits),
                                interval_words(pair.ratio.interval, digits)));
  return enumerate(texts);
}

// Says who is equal, who differs too little to count, and who is not decided. `what` is what they differ in:
// "", or "by cost, ".
std::vector<std::string> other_sentences(const Decisions& decisions, const Comparison& comparison,
                                         const std::string& what, int digits, const RaceResult& race,
                                         const CaseResult& one) {
  std::vector<std::string> sentences;
  const stats::Measure& measure = comparison.measure;
  if (!decisions.equal.empty())
    sentences.push_back(fmt::format("{}{} {} {} within {}", what, enumerate(decisions.equal),
                                    decisions.equal.size() == 1 ? "equals" : "equal", one.reference,
                                    percent(measure.equal, 1)));
  if (!decisions.slight.empty())
    sentences.push_back(fmt::format("{}less than the {} that count: {}", what, percent(measure.least, 1),
                                    pairs_text(decisions.slight, std::max(digits, 3))));
  if (!decisions.undecided.empty()) {
    const std::string more = what_would_decide(decisions.undecided, measure, race, one);
    sentences.push_back(fmt::format("{}not decided against {}: {}{}", what, one.reference,
                                    pairs_text(decisions.undecided, digits),
                                    more.empty() ? "" : ", " + more));
  }
  return sentences;
}

// Compares the contestants with the reference, by the figure that ranks them.
std::vector<std::string> figure_sentences(const std::vector<const Entry*>& entries, const RaceResult& race,
                                          const CaseResult& one) {
  const Decisions decisions = decisions_of(one.ranking, entries, one.reference);
  std::vector<std::string> sentences;
  for (const Pair& pair : decisions.differ) {
    const char* const bound = find_entry(one, pair.a)->at_least          ? "at least "
                              : find_entry(one, one.reference)->at_least ? "at most "
                                                                         : "";
    if (one.ranked_by_latency())
      sentences.push_back(fmt::format("the {} of {} is {}", one.latency->words, in_list(pair.a),
                                      times_text(pair.ratio, bound, "that of " + one.reference)));
    else
      sentences.push_back(
          fmt::format("{} is {}", in_list(pair.a), times_text(pair.ratio, bound, one.reference)));
  }
  for (std::string& other : other_sentences(decisions, one.ranking, "", 2, race, one))
    sentences.push_back(std::move(other));
  return sentences;
}

// Compares the costs with that of the reference. A side that polls has none.
std::vector<std::string> cost_sentences(std::vector<const Entry*> entries, const RaceResult& race,
                                        const CaseResult& one) {
  std::erase_if(entries, [](const Entry* entry) { return entry->server_polls(); });
  const Entry* const reference = find_entry(one, one.reference);
  if (reference == nullptr || reference->server_polls()) return {};
  const Decisions decisions = decisions_of(one.costs, entries, one.reference);
  std::vector<std::string> sentences;
  if (!decisions.differ.empty())
    sentences.push_back(fmt::format("a {} costs {} the {}CPU time of {}", one.plan.unit(),
                                    pairs_text(decisions.differ, 3), one.plan.files ? "" : "server ",
                                    one.reference));
  for (std::string& other : other_sentences(decisions, one.costs, "by cost, ", 3, race, one))
    sentences.push_back(std::move(other));
  return sentences;
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

// Describes the contestants with bounds. In a load with an interval, the schedule may have been the limit.
std::vector<std::string> bound_sentences(const std::vector<const Entry*>& bounds, bool nobody_else,
                                         const CaseResult& one) {
  if (bounds.empty()) return {};
  if (one.plan.load.interval.count() > 0)
    return {fmt::format("the load was the limit of {}, so throughput {}", names_of(bounds),
                        nobody_else ? "gives no places" : "is only a lower bound there")};
  // These protocols are those whose messages may be exchanged for those of work.
  const std::string& protocol = one.plan.protocol;
  const bool may_work = protocol == "echo" || protocol == "uppercase" || protocol == "work";
  return {
      fmt::format("the client was the limit of {}, so throughput {}, and differences of throughput and cost "
                  "are understated: "
                  "what is not said here is not decided{}",
                  names_of(bounds), nobody_else ? "gives no places" : "is only a lower bound there",
                  may_work ? ", and more work for each message (-p work --work 10us) would show it" : "")};
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
std::vector<std::string> without_places(const RaceResult& race, const CaseResult& one) {
  std::vector<std::string> sentences{too_few(rounds_of(one))};
  const Decisions costs = decisions_of(one.costs, contestants_of(one), one.reference);
  if (costs.differ.empty() && costs.equal.empty()) return sentences;
  for (std::string& cost : cost_sentences(contestants_of(one), race, one))
    sentences.push_back(std::move(cost));
  return sentences;
}

// Names the reference that is used in place of an entry that was asked for.
std::string instead_of(const std::string& wanted, const Entry& entry, const CaseResult& one) {
  const bool is_other = entry.contestant.name == wanted && !one.reference.empty() && one.reference != wanted;
  return is_other ? fmt::format(", so the ratios are to {}", one.reference) : std::string();
}

std::vector<std::string> rank_sentences(const RaceResult& race, const CaseResult& one) {
  if (no_place_is_told(one)) return without_places(race, one);
  const std::vector<const Entry*> ranked = ranking(one), bounds = bounds_of(one);
  std::vector<const Entry*> all = ranked;
  all.insert(all.end(), bounds.begin(), bounds.end());
  if (all.empty()) return {"no contestant can be ranked"};
  if (all.size() == 1 && all.front()->contestant.name == one.reference) return {alone(one, *all.front())};
  const Entry* const reference = find_entry(one, one.reference);
  const bool comparable = reference->ranked || reference->at_least;
  std::vector<std::string> sentences;
  if (comparable) sentences = figure_sentences(all, race, one);
  for (std::string& bound : bound_sentences(bounds, ranked.empty(), one))
    sentences.push_back(std::move(bound));
  if (comparable)
    for (std::string& cost : cost_sentences(all, race, one)) sentences.push_back(std::move(cost));
  return sentences;
}

}  // namespace

std::string times_text(const stats::Ratio& ratio, std::string_view bound, const std::string& of) {
  const bool is_sure =
      std::abs(std::log(ratio.estimate)) >= std::log(ratio.interval.high / ratio.interval.low);
  const std::string likely = ratio_words(ratio.estimate, 2), interval = interval_words(ratio.interval, 2);
  if (is_sure || !bound.empty()) return fmt::format("{}{}x {} ({})", bound, likely, of, interval);
  return fmt::format("{} times {} (likely {})", interval, of, likely);
}

std::string what_would_decide(double times, const RaceResult& race, const CaseResult& one) {
  constexpr double kMostTimes = 60;
  if (times > kMostTimes) return {};
  const double rounds = std::max(1.0, std::ceil((times - 1) * static_cast<double>(rounds_of(one))));
  if (race.scenario.rounds > 0)
    return fmt::format("about {} would decide", counted(static_cast<std::uint64_t>(rounds), "more round"));
  if (one.look != stats::Look::last)  // the race was precise enough to end; more time would change nothing
    return fmt::format("about {:.0f} rounds in all would decide (--rounds)",
                       rounds + static_cast<double>(rounds_of(one)));
  const double share = rounds / static_cast<double>(std::max<std::uint64_t>(1, rounds_of(one)));
  const auto more = std::chrono::duration_cast<std::chrono::seconds>(share * race.scenario.time);
  return fmt::format("about {} more would decide (--time)",
                     format_duration(std::max(more, std::chrono::seconds(1))));
}

std::string verdict_of(const RaceResult& race, const CaseResult& one) {
  std::vector<std::string> sentences;
  for (const CheckResult& check : one.checks)
    if (check.invalidates)
      sentences.push_back(fmt::format("Invalid, compare nothing here: {}", check.detail));
  if (sentences.empty()) sentences = rank_sentences(race, one);
  for (const Entry& entry : one.entries)
    if (entry.is_contestant() && !entry.ranked)
      sentences.push_back(fmt::format("{} is not ranked ({}){}", entry.contestant.name, entry.reason,
                                      instead_of(race.scenario.reference, entry, one)));
  if (one.verified.empty())
    sentences.push_back("the replies were not verified, or not all: a wrong one counts too");
  if (!race.complete) sentences.push_back(fmt::format("the race is incomplete: {}", race.incomplete));
  const std::string rate = one.ranked_by_latency()
                               ? fmt::format("At {} messages/s: ", format_rate(one.plan.load.rate_per_s))
                               : std::string();
  return fmt::format("{}{}.", rate, join(sentences, "; "));
}

}  // namespace joust::race
