// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/text.hpp"
#include "race/checks/checks.hpp"
#include "race/figures/ranking.hpp"
#include "race/figures/wording.hpp"
#include "race/model/result.hpp"
#include "stats/comparison.hpp"
#include "stats/drift.hpp"
#include "stats/summary.hpp"

namespace joust::race {
namespace {

// With fewer rounds than this, the noise itself is hardly known, and intervals are very wide.
constexpr std::uint64_t kFewRounds = 5;
// Rounds that follow each other should not resemble each other: intervals hold for independent rounds. Less
// correlation than this changes an interval by no more than 1.36 times: the root of (1 + r) / (1 - r).
constexpr double kCorrelated = 0.3;
// So many standard deviations of the correlation of independent rounds: one race in a hundred.
constexpr double kBeyondChance = 2.33;

void check_rounds(const CaseResult& one, std::uint64_t rounds, Findings& findings) {
  if (rounds < 2 && !std::isfinite(one.ranking.least_difference))
    findings.doubt("{}: nothing is told", counted(rounds, "round"));
  else if (rounds < kFewRounds)
    findings.doubt("{}: {} noise, so the intervals are wide", counted(rounds, "round"),
                   rounds == 1 ? "one hardly knows its" : "so few hardly know their");
  else
    findings.say("{}", counted(rounds, "round"));
}

// Returns the correlation of successive rounds, in the mean over the ratios to the reference.
std::optional<double> correlation_of(const CaseResult& one, const RankedBy& by) {
  const Entry* const reference = find_entry(one, one.reference);
  if (reference == nullptr) return std::nullopt;
  double sum = 0, count = 0;
  for (const Entry* entry : contestants_of(one)) {
    if (entry == reference) continue;
    const auto correlation =
        stats::lag_one_correlation(stats::known(log_ratios(one, *entry, *reference, by)));
    if (correlation) sum += *correlation, ++count;
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

void check_independence(const CaseResult& one, std::uint64_t rounds, Findings& findings) {
  const auto correlation = correlation_of(one, ranked_by(one));
  if (!correlation || rounds < kFewRounds) return;
  const double by_chance = kBeyondChance / std::sqrt(static_cast<double>(rounds));
  if (*correlation > std::max(kCorrelated, by_chance))
    findings.warn(
        "successive rounds resemble each other (correlation {:.2f}), so the intervals are too narrow: "
        "race again later, or for longer",
        *correlation);
  else
    findings.say("correlation of successive rounds {:.2f}", *correlation);
}

// Returns the skewness of values: 0 where both tails are alike, 2 of exponential noise. Nothing where so few
// tell nothing of it, or all are equal.
std::optional<double> skewness(const std::vector<double>& values) {
  constexpr std::size_t kFewest = 6;
  const double variance = stats::variance(values), mean = stats::mean(values);
  if (values.size() < kFewest || variance == 0) return std::nullopt;
  double cubes = 0;
  for (const double value : values) cubes += std::pow(value - mean, 3);
  return cubes / static_cast<double>(values.size()) / std::pow(variance, 1.5);
}

// Warns of a contestant whose rounds are skewed: rare long stalls, which whole trials count. Student's t
// tells equals apart more often then.
void check_skewness(const CaseResult& one, Findings& findings) {
  constexpr double kSkewed = 1;
  const Entry* const reference = find_entry(one, one.reference);
  if (one.plan.load.turns || reference == nullptr) return;
  const RankedBy by = ranked_by(one);
  for (const Entry* entry : contestants_of(one)) {
    if (entry == reference) continue;
    const std::vector<double> logs = stats::known(log_ratios(one, *entry, *reference, by));
    const auto skewed = skewness(logs);
    const double by_chance = kBeyondChance * std::sqrt(6 / static_cast<double>(logs.size()));
    if (skewed && std::abs(*skewed) > std::max(kSkewed, by_chance))
      findings.warn(
          "the rounds of {} are skewed ({:.1f}), as by rare long stalls: equals are told apart in up to 8 of "
          "100 "
          "such races",
          in_list(entry->contestant.name), *skewed);
  }
}

// Finds the widest interval of the ratios by one figure.
void check_widest(const CaseResult& one, const Comparison& comparison, const char* figure,
                  Findings& findings) {
  double widest = 0;
  std::string of;
  for (const Entry* entry : contestants_of(one)) {
    const auto pair = comparison.of(entry->contestant.name, one.reference);
    if (!pair || !pair->ratio.is_known()) continue;
    const double half_width = pair->ratio.interval.width() / 2 / pair->ratio.estimate;
    if (half_width <= widest) continue;
    widest = half_width;
    of = entry->contestant.name;
  }
  if (widest > kCoarse)
    findings.doubt("the interval of {} is wide: its {}ratio ± {}; more rounds narrow it", in_list(of), figure,
                   spread_text(widest));
  else if (widest > 0)
    findings.say("widest {}interval: {} ± {}", figure, in_list(of), percent(widest, 1));
}

}  // namespace

CheckResult check_enough(const RaceResult& race, const CaseResult& one) {
  Findings findings(8, "enough rounds and samples");
  if (!anything_measured(one)) return nothing_to_check(std::move(findings));
  const std::uint64_t rounds = std::min(race.rounds, rounds_of(one));
  check_rounds(one, rounds, findings);
  if (one.ranked_by_latency() && one.latency != &kP99Latency)
    findings.warn("too few messages in each trial for a p99 latency: ranked by the {}", one.latency->words);
  for (const Entry* entry : contestants_of(one)) {
    if (entry->summary.trials == 0) continue;
    if (!one.plan.files && !kP99Latency.of(entry->summary.latency) && !one.ranked_by_latency())
      findings.doubt("{}: too few messages for a p99 latency", entry->contestant.name);
    if (entry->summary.trials < rounds)
      findings.warn("{}: {} of {} rounds have a result", entry->contestant.name, entry->summary.trials,
                    rounds);
  }
  check_widest(one, one.ranking, "", findings);
  check_widest(one, one.costs, "cost ", findings);
  check_independence(one, rounds, findings);
  check_skewness(one, findings);
  return findings.take();
}

}  // namespace joust::race
