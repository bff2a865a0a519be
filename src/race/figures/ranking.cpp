// SPDX-License-Identifier: MIT
#include "race/figures/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "race/figures/uneven_turns.hpp"
#include "race/model/result.hpp"
#include "stats/intervals.hpp"
#include "stats/summary.hpp"

namespace joust::race {
namespace {

bool competes(const Entry& entry) {
  return entry.is_contestant() && (entry.ranked || entry.at_least) && entry.summary.trials > 0;
}

// Returns whether an entry's figure is, or may be, a lower bound. A contestant whose load was the limit has a
// lower bound for its throughput, the figure that is better when greater. Its cost is a figure like any
// other.
bool is_bound(const Entry& entry, stats::Better better) {
  return better == stats::Better::greater && entry.may_be_faster();
}

// Returns whether an entry's cost has a place. The CPU time of a side that polls says how long the race took.
bool has_cost(const Entry& entry) {
  return entry.summary.cost_us_per_message && !entry.server_polls();
}

// Returns whether the differences of a contestant from others are greater than its figures show: those of its
// throughput, and, if the client was the limit, those of its cost too. A schedule that is the limit gives all
// servers the same work, so their costs compare.
bool understates(const Entry& entry, const RankedBy& by, const CaseResult& one) {
  return entry.may_be_faster() && (!by.is_cost || one.plan.load.interval.count() == 0);
}

// Decides on two contestants. A bound may be any amount too low: it proves a difference if the greater of the
// two figures is the bound. Where differences are understated, it is never known that two are equal.
stats::Decision decide(const stats::Ratio& ratio, const Entry& a, const Entry& b, const RankedBy& by,
                       const stats::Measure& measure, bool understated) {
  const stats::Decision decision = stats::decide(ratio, measure);
  if (!understated) return decision;
  const bool proves = !is_bound(ratio.estimate > 1 ? b : a, by.better);
  return decision == stats::Decision::differ && proves ? decision : stats::Decision::undecided;
}

std::optional<Estimate> estimate_of(const stats::Ratio& ratio) {
  if (ratio.rounds == 0) return std::nullopt;
  return Estimate{.median = ratio.estimate,
                  .interval = ratio.interval,
                  .confidence = ratio.is_known() ? stats::kTogether : 0};
}

}  // namespace

std::optional<double> throughput(const Trial& trial) {
  return trial.throughput_per_s();
}

std::optional<double> server_cost(const Trial& trial) {
  return trial.server_cpu_us_per_message();
}

std::optional<double> command_cost(const Trial& trial) {
  const auto server = trial.serverless ? std::optional(0.0) : server_cost(trial);
  const auto client = trial.client_cpu_us_per_message();
  return server && client ? std::optional(*server + *client) : std::nullopt;
}

Figure latency(const LatencyFigure& figure) {
  return [&figure](const Trial& trial) { return figure.of(trial.load->latency_ns); };
}

RankedBy ranked_by(const CaseResult& one) {
  if (one.ranked_by_latency()) return {latency(*one.latency), stats::Better::smaller};
  return {throughput, stats::Better::greater, false, one.plan.load.turns ? throughput_of_all_turns : Figure{},
          one.plan.load.turns ? &Turn::throughput_per_s : nullptr};
}

RankedBy cost_ranking(const CaseResult& one) {
  const bool has_turns = one.plan.load.turns && !one.plan.files;
  return {cost_of(one), stats::Better::smaller, true, has_turns ? cost_of_all_turns : Figure{},
          has_turns ? &Turn::server_cpu_us_per_message : nullptr};
}

const std::optional<Estimate>& ranked_figure(const CaseResult& one, const Entry& entry) {
  const Summary& summary = entry.summary;
  return one.ranked_by_latency() ? summary.latency_by_round.*one.latency->estimate : summary.throughput_per_s;
}

const std::optional<Estimate>& ranked_ratio(const CaseResult& one, const Entry& entry) {
  return one.ranked_by_latency() ? entry.summary.latency_ratio.*one.latency->estimate : entry.summary.ratio;
}

bool no_place_is_told(const CaseResult& one) {
  const auto has_place = [](const Entry* entry) { return entry->place.has_value(); };
  std::vector<const Entry*> compared = contestants_of(one);
  std::erase_if(compared, [&](const Entry* entry) {
    return (!entry->ranked && !entry->at_least) || !ranked_ratio(one, *entry);
  });
  return compared.size() > 1 && one.ranking.least_difference > stats::kTellsNothing &&
         std::ranges::none_of(compared, has_place);
}

stats::Rounds by_round(const CaseResult& one, const Entry& entry, const Figure& figure) {
  stats::Rounds figures(rounds_begun(one));
  for (const Trial* trial : usable_trials(entry)) figures[trial->round - 1] = figure(*trial);
  return figures;
}

std::vector<double> log_ratios_of_turns(const Trial& one, const Trial& other,
                                        std::optional<double> (Turn::*figure)() const) {
  std::map<std::uint64_t, double> logs_of_other;
  const auto log_of = [&](const Turn& turn) {
    const auto value = (turn.*figure)();
    return value && *value > 0 ? std::optional(std::log(*value)) : std::nullopt;
  };
  for (const Turn& turn : other.turns)
    if (const auto log = log_of(turn)) logs_of_other.emplace(turn.number, *log);
  std::vector<double> logs;
  for (const Turn& turn : one.turns) {
    const auto log = log_of(turn);
    if (const auto found = logs_of_other.find(turn.number); log && found != logs_of_other.end())
      logs.push_back(*log - found->second);
  }
  return logs;
}

namespace {

std::optional<double> log_ratio(const Trial& one, const Trial& other, const RankedBy& by) {
  const auto figure = by.figure(one), figure_of_other = by.figure(other);
  if (!figure || !figure_of_other || *figure <= 0 || *figure_of_other <= 0) return std::nullopt;
  if (by.of_turn != nullptr && !one.counts_all_turns() && !other.counts_all_turns())
    if (const std::vector<double> logs = log_ratios_of_turns(one, other, by.of_turn); !logs.empty())
      return stats::centre(logs, {}).estimate;
  return std::log(*figure / *figure_of_other);
}

}  // namespace

stats::LogRatios log_ratios(const CaseResult& one, const Entry& entry, const Entry& other,
                            const RankedBy& by) {
  stats::LogRatios ratios(rounds_begun(one));
  for (const Trial* trial : usable_trials(entry))
    for (const Trial* beside : usable_trials(other))
      if (beside->round == trial->round) ratios[trial->round - 1] = log_ratio(*trial, *beside, by);
  return ratios;
}

namespace {

// Returns the variance of the logarithm of a round's ratio of two contestants that is expected from the noise
// of its turns, and from what else differs from start to start of the processes. Nothing where turns do not
// tell. The level of a generation has about the noise of the mean of its turns. How much more generations
// differ was measured: by 0 to 1 % (engines of joust), 2 to 5 % (nginx, redis).
std::optional<double> expected_noise(const Entry& one, const Entry& other, const RankedBy& by) {
  constexpr double kMoreThanTurns = 1.5, kOfStarts = 0.05;
  constexpr std::size_t kFewestTurns = 4;
  if (by.of_turn == nullptr) return std::nullopt;
  std::vector<double> variances;  // of the mean of a round's turns
  for (const Trial* trial : usable_trials(one))
    for (const Trial* beside : usable_trials(other)) {
      if (beside->round != trial->round) continue;
      const std::vector<double> logs = log_ratios_of_turns(*trial, *beside, by.of_turn);
      if (logs.size() < kFewestTurns) return std::nullopt;
      variances.push_back(stats::variance(logs) / static_cast<double>(logs.size()));
    }
  if (variances.empty()) return std::nullopt;
  return kMoreThanTurns * kMoreThanTurns * stats::mean(variances) + kOfStarts * kOfStarts;
}

// Compares the reference's second entry with its first, as a comparison of its own. Nothing unless both have
// a result.
std::optional<stats::Ratio> reference_to_itself(const CaseResult& one, const RankedBy& by) {
  const Entry* reference = find_entry(one, one.reference);
  const Entry* again = second_entry(one);
  if (reference == nullptr || again == nullptr || again->summary.trials == 0) return std::nullopt;
  const std::vector<stats::LogRatios> pair{log_ratios(one, *again, *reference, by)};
  std::vector<std::optional<double>> expected;
  if (rounds_of(one) <= stats::Comparisons::kFewRounds)
    expected.push_back(expected_noise(*again, *reference, by));
  return stats::Comparisons(2, pair, stats::Look::last, expected).of(0, 1);
}

// Returns the logarithm of the ratio of two contestants in each round. Of the reference, which has two
// entries, it is the mean of both, where a round has both: so ratios to it have less noise.
stats::LogRatios pooled(const CaseResult& one, const Entry& entry, const Entry& other, const RankedBy& by) {
  stats::LogRatios ratios = log_ratios(one, entry, other, by);
  const Entry* const again = second_entry(one);
  if (again == nullptr) return ratios;
  stats::LogRatios of_second(ratios.size());
  if (again->repeats == other.contestant.name) of_second = log_ratios(one, entry, *again, by);
  if (again->repeats == entry.contestant.name) of_second = log_ratios(one, *again, other, by);
  for (std::size_t round = 0; round < ratios.size(); ++round)
    if (ratios[round] && of_second[round]) ratios[round] = std::midpoint(*ratios[round], *of_second[round]);
  return ratios;
}

// Takes back that a pair is equal if its ratio over all turns does not say so.
void ask_all_turns(const stats::Ratio& ratio, const stats::Measure& measure, Pair& pair) {
  if (pair.decision != stats::Decision::equal) return;
  if (stats::decide(ratio, measure) == stats::Decision::equal) return;
  if (ratio.is_known()) pair.all_turns = ratio;
  pair.decision = stats::Decision::undecided;
}

// Removes the places if the noise leaves no contestant ahead of another: they would look like a result.
void drop_places_that_tell_nothing(Ranking& ranking) {
  const auto told = [](const Ranking::Rank& rank) { return rank.place && rank.place->first > 1; };
  if (ranking.comparison.least_difference <= stats::kTellsNothing || std::ranges::any_of(ranking.ranks, told))
    return;
  for (Ranking::Rank& rank : ranking.ranks) rank.place.reset();
}

// Gives places to the entries that have a figure. Those of which only a bound is known count as others: one
// of them may be known to be better.
void give_places(const CaseResult& one, const RankedBy& by, Ranking& ranking) {
  std::vector<std::size_t> compared;
  for (std::size_t i = 0; i < one.entries.size(); ++i)
    if (competes(one.entries[i]) && (!by.is_cost || has_cost(one.entries[i]))) compared.push_back(i);
  const auto name = [&](std::size_t i) -> const std::string& {
    return one.entries[compared[i]].contestant.name;
  };
  const auto is_better = [&](std::size_t a, std::size_t b) {
    const auto pair = ranking.comparison.of(name(a), name(b));
    return pair && pair->decision == stats::Decision::differ &&
           (pair->ratio.estimate > 1) == (by.better == stats::Better::greater);
  };
  const std::vector<stats::Places> places = stats::places_of(compared.size(), is_better);
  for (std::size_t i = 0; i < compared.size(); ++i)
    if (!is_bound(one.entries[compared[i]], by.better)) ranking.ranks[compared[i]].place = places[i];
  if (compared.size() > 1) drop_places_that_tell_nothing(ranking);
}

}  // namespace

// Bounds are compared too: differences that they prove are reported, and their noise counts as that of the
// figures.
Ranking rank(const CaseResult& one, const RankedBy& by, const stats::Measure& measure) {
  std::vector<const Entry*> compared;
  for (const Entry& entry : one.entries)
    if (competes(entry)) compared.push_back(&entry);
  const RankedBy by_all_turns{.figure = by.all_turns, .better = by.better};
  std::vector<stats::LogRatios> pairs, pairs_of_all_turns;
  std::vector<std::optional<double>> expected;
  for (std::size_t a = 0; a < compared.size(); ++a)
    for (std::size_t b = a + 1; b < compared.size(); ++b) {
      const Entry &of_a = *compared[a], &of_b = *compared[b];
      pairs.push_back(pooled(one, of_a, of_b, by));
      if (by.all_turns) pairs_of_all_turns.push_back(pooled(one, of_a, of_b, by_all_turns));
      if (rounds_of(one) <= stats::Comparisons::kFewRounds)
        expected.push_back(expected_noise(of_a, of_b, by));
    }
  const stats::Comparisons ratios(compared.size(), pairs, one.look, expected);
  const stats::Comparisons ratios_of_all_turns(compared.size(), pairs_of_all_turns, one.look);

  Ranking ranking{.comparison = {.measure = measure, .itself = reference_to_itself(one, by)}};
  Comparison& comparison = ranking.comparison;
  comparison.least_difference = std::max(measure.least, ratios.least_difference());
  comparison.reference_differs =
      comparison.itself && stats::decide(*comparison.itself, measure) == stats::Decision::differ;
  if (comparison.reference_differs)
    comparison.measure.least = std::max(measure.least, stats::aa_spread(*comparison.itself));
  for (std::size_t a = 0; a < compared.size(); ++a)
    for (std::size_t b = a + 1; b < compared.size(); ++b) {
      const stats::Ratio ratio = ratios.of(a, b);
      if (ratio.rounds == 0) continue;
      const Entry &of_a = *compared[a], &of_b = *compared[b];
      const bool understated = understates(of_a, by, one) || understates(of_b, by, one);
      Pair& pair = comparison.pairs.emplace_back(
          Pair{.a = of_a.contestant.name,
               .b = of_b.contestant.name,
               .ratio = ratio,
               .decision = decide(ratio, of_a, of_b, by, comparison.measure, understated),
               .understated = understated});
      if (by.all_turns) ask_all_turns(ratios_of_all_turns.of(a, b), comparison.measure, pair);
    }

  const Entry* reference = find_entry(one, one.reference);
  for (const Entry& entry : one.entries) {
    Ranking::Rank& rank = ranking.ranks.emplace_back();
    if (reference == nullptr || entry.kind == EntryKind::ceiling) continue;
    const auto pair = comparison.of(entry.contestant.name, one.reference);
    rank.ratio = entry.is_contestant() && pair
                     ? estimate_of(pair->ratio)
                     : estimate_of(stats::compare(log_ratios(one, entry, *reference, by)));
  }
  give_places(one, by, ranking);
  return ranking;
}

}  // namespace joust::race
