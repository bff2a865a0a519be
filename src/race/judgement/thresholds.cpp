// SPDX-License-Identifier: MIT
#include "race/judgement/thresholds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/fields.hpp"
#include "race/figures/ranking.hpp"
#include "race/figures/wording.hpp"
#include "race/judgement/sentences.hpp"
#include "race/model/result.hpp"

namespace joust::race {
namespace {

constexpr int kDecimals = 3;

// One threshold, applied to one case.
struct Threshold {
  bool is_cost;
  Fails fails;
  double limit;
  const Comparison& comparison;
};

// Returns the reference that was planned. The ratios of a case are to another contestant where it was not
// measured.
const std::string& planned_reference(const CaseResult& one) {
  for (const Entry& entry : one.entries)
    if (entry.kind == EntryKind::again) return entry.repeats;
  return one.reference;
}

// Returns why a contestant has no figure of this kind. Empty if it has one.
std::string why_without_figure(const CaseResult& one, const Entry& entry, bool is_cost) {
  const std::string name = in_list(entry.contestant.name);
  if (!entry.unavailable.empty()) return fmt::format("{} cannot run here ({})", name, entry.unavailable);
  if (!entry.ranked && !entry.at_least) return fmt::format("{} is not ranked ({})", name, entry.reason);
  if (entry.summary.trials == 0) return fmt::format("{} was not measured", name);
  if (is_cost && entry.server_polls())
    return fmt::format("{} polls, so its CPU time is that of the race", name);
  if (is_cost && !entry.summary.cost_us_per_message)
    return fmt::format("the cost of a {} of {} is not known", one.plan.unit(), name);
  return {};
}

stats::Interval widened(const stats::Interval& interval, const Comparison& comparison) {
  if (!comparison.reference_differs) return interval;
  const double factor = 1 + stats::aa_spread(*comparison.itself);
  return {.low = interval.low / factor, .high = interval.high * factor};
}

// Returns the words for a known ratio: "new is at 0.951 (0.947 to 0.955) of old".
std::string ratio_sentence(const CaseResult& one, const ThresholdFinding& finding, const Comparison& how) {
  const std::string name = in_list(finding.contestant);
  const std::string times = ratio_with_interval(*finding.ratio, kDecimals);
  const std::string wider =
      how.reference_differs ? ", an interval that is wider because the reference differs from itself" : "";
  if (!finding.is_cost) return fmt::format("{} is at {} of {}{}", name, times, finding.reference, wider);
  return fmt::format("a {} of {} costs {} of the {}CPU time of {}{}", one.plan.unit(), name, times,
                     one.plan.files ? "" : "server ", finding.reference, wider);
}

// Says what would decide, if more rounds can: "a race of about 3 minutes (--time 3m) would decide".
std::string more_rounds(const ThresholdFinding& finding, const RaceResult& race, const CaseResult& one) {
  const stats::Ratio& ratio = *finding.ratio;
  if (!ratio.interval.contains(finding.limit))
    return ", because chance makes such a difference in more than one race of a hundred; more rounds would "
           "decide";
  const double distance = std::abs(std::log(ratio.estimate / finding.limit));
  const double half_width = std::log(ratio.interval.high / ratio.interval.low) / 2;
  const std::string length =
      distance > 0 ? length_in_all(std::pow(half_width / distance, 2), race, one) : std::string();
  return length.empty() ? length : fmt::format(", a race of {} would decide", length);
}

// Returns whether any contestant ran. Otherwise the exit code is not that of a threshold.
bool any_was_tried(const RaceResult& race) {
  return std::ranges::any_of(race.cases, [](const CaseResult& one) { return anything_measured(one); });
}

// A race that was interrupted ends with another exit code than its thresholds ask for.
std::string failing_words(const RaceResult& race) {
  return race.complete ? fmt::format("exit code {}", kBeyondThreshold)
                       : "beyond the threshold, as far as the race came";
}

std::string consequence(const RaceResult& race) {
  if (!race.complete) return "the race is not complete";
  if (!any_was_tried(race)) return "no contestant can run here";
  return undecided_words(race.scenario.thresholds.undecided == Undecided::fail);
}

// Explains why a throughput is not decided, although its interval may be beyond the threshold.
std::string why_bounds_prove_nothing(const ThresholdFinding& finding, const CaseResult& one) {
  const bool certain =
      find_entry(one, finding.contestant)->at_least || find_entry(one, finding.reference)->at_least;
  return fmt::format(
      ", because the load {} the limit: what the servers could do with another client is not known "
      "(--fail-cost-above compares their CPU time, and more work for each message makes them the limit)",
      certain ? "was" : "may have been");
}

std::string sentence_of(const Threshold& threshold, const ThresholdFinding& finding, bool understated,
                        const RaceResult& race, const CaseResult& one) {
  const std::string ratio = ratio_sentence(one, finding, threshold.comparison);
  const std::string limit = limit_words(threshold.fails, threshold.limit);
  if (finding.standing == Standing::beyond)
    return fmt::format("{}, {}: {}", ratio, limit, failing_words(race));
  if (finding.standing == Standing::within) return fmt::format("{}, not {}", ratio, limit);
  const std::string why = !understated ? more_rounds(finding, race, one)
                          : finding.is_cost
                              ? ", because the load was the limit and the true difference may be greater"
                              : why_bounds_prove_nothing(finding, one);
  return fmt::format("{}: not decided whether that is {}{}: {}", ratio, limit, why, consequence(race));
}

std::string sentence_without_ratio(const Threshold& threshold, const ThresholdFinding& finding,
                                   const std::string& why, const RaceResult& race) {
  const char *const what = threshold.is_cost ? "the cost of " : "", *const whose =
                                                                        threshold.is_cost ? "that of " : "";
  return fmt::format("not decided whether {}{} is {} of {}{}, because {}: {}", what,
                     in_list(finding.contestant), limit_words(threshold.fails, threshold.limit), whose,
                     finding.reference, why, consequence(race));
}

// Compares a contestant with the reference. Both have figures, or `without` says why not.
ThresholdFinding find(const Threshold& threshold, const Entry& entry, const Entry& reference,
                      std::string without, const RaceResult& race, const CaseResult& one) {
  ThresholdFinding finding{.contestant = entry.contestant.name,
                           .reference = reference.contestant.name,
                           .is_cost = threshold.is_cost,
                           .fails = threshold.fails,
                           .limit = threshold.limit};
  const auto pair = threshold.comparison.of(finding.contestant, finding.reference);
  if (without.empty() && (!pair || !pair->ratio.is_known()))
    without = fmt::format("the rounds are too few to compare {} with {}", in_list(finding.contestant),
                          finding.reference);
  if (!without.empty()) {
    finding.sentence = sentence_without_ratio(threshold, finding, without, race);
    return finding;
  }
  finding.ratio = pair->ratio;
  finding.ratio->interval = widened(pair->ratio.interval, threshold.comparison);
  const bool is_bound = !threshold.is_cost;
  finding.standing = standing_of(*finding.ratio, threshold.limit, threshold.fails,
                                 {.understated = pair->understated,
                                  .contestant = is_bound && entry.may_be_faster(),
                                  .reference = is_bound && reference.may_be_faster()});
  finding.more_rounds_decide = finding.standing == Standing::undecided && !pair->understated;
  finding.sentence = sentence_of(threshold, finding, pair->understated, race, one);
  return finding;
}

std::string why_nothing_is_compared(const CaseResult& one, const std::string& reference) {
  for (const CheckResult& check : one.checks)
    if (check.invalidates) return fmt::format("the measurement is invalid ({})", check.detail);
  return one.reference == reference ? "" : fmt::format("{} was not measured", reference);
}

void compare_all(const Threshold& threshold, const RaceResult& race, const CaseResult& one,
                 std::vector<ThresholdFinding>& findings) {
  const std::string name = planned_reference(one);
  const Entry* const reference = find_entry(one, name);
  if (reference == nullptr) return;
  std::string of_all = why_nothing_is_compared(one, name);
  if (of_all.empty()) of_all = why_without_figure(one, *reference, threshold.is_cost);
  for (const Entry& entry : one.entries) {
    if (!entry.is_contestant() || &entry == reference || !entry.contestant.moves_files) continue;
    std::string without = of_all.empty() ? why_without_figure(one, entry, threshold.is_cost) : of_all;
    findings.push_back(find(threshold, entry, *reference, std::move(without), race, one));
    if (race.cases.size() > 1) findings.back().sentence.insert(0, one.plan.name + ": ");
  }
}

}  // namespace

std::string limit_words(Fails fails, double limit) {
  return fmt::format("{} {}", word_of(fails), limit);
}

std::string undecided_words(bool fails) {
  return fails ? fmt::format("exit code {} (--undecided fail)", kBeyondThreshold)
               : "by itself no failure (--undecided ok)";
}

// Above a limit is below its inverse, for the inverse ratio.
Standing standing_of(const stats::Ratio& ratio, double limit, Fails fails, const Bounds& bounds) {
  if (!ratio.is_known()) return Standing::undecided;
  if (fails == Fails::above)
    return standing_of(
        stats::inverse(ratio), 1 / limit, Fails::below,
        {.understated = bounds.understated, .contestant = bounds.reference, .reference = bounds.contestant});
  const double beyond = bounds.understated ? std::min(limit, 1.0) : limit;
  const double within = bounds.understated ? std::max(limit, 1.0) : limit;
  const bool is_certain = limit > 1 || stats::is_told(ratio);
  if (ratio.interval.high < beyond && is_certain && !bounds.contestant) return Standing::beyond;
  return ratio.interval.low >= within && !bounds.reference ? Standing::within : Standing::undecided;
}

std::vector<ThresholdFinding> compare_with_thresholds(const RaceResult& race, const CaseResult& one) {
  std::vector<ThresholdFinding> findings;
  const Thresholds& given = race.scenario.thresholds;
  if (given.below && !one.ranked_by_latency())
    compare_all({false, Fails::below, *given.below, one.ranking}, race, one, findings);
  if (given.cost_above) compare_all({true, Fails::above, *given.cost_above, one.costs}, race, one, findings);
  return findings;
}

std::vector<std::string> threshold_sentences(const RaceResult& race) {
  std::vector<std::string> sentences;
  for (const CaseResult& one : race.cases) {
    for (const ThresholdFinding& finding : one.thresholds) sentences.push_back(finding.sentence);
    if (race.scenario.thresholds.below && one.ranked_by_latency())
      sentences.push_back(
          fmt::format("{}: not tested by --fail-below, because at a given rate throughput does "
                      "not compare servers; --fail-cost-above does",
                      one.plan.name));
  }
  return sentences;
}

std::vector<std::string> failed_thresholds(const RaceResult& race) {
  const bool undecided_fails = race.scenario.thresholds.undecided == Undecided::fail;
  std::vector<std::string> sentences;
  for (const CaseResult& one : race.cases)
    for (const ThresholdFinding& finding : one.thresholds)
      if (finding.standing == Standing::beyond ||
          (undecided_fails && finding.standing == Standing::undecided))
        sentences.push_back(finding.sentence);
  return sentences;
}

}  // namespace joust::race
