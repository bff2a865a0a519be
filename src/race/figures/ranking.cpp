// SPDX-License-Identifier: MIT
#include "race/figures/ranking.hpp"

#include <algorithm>

#include "race/model/entries.hpp"

namespace joust::race {
namespace {

bool competes(const Entry& entry) {
  return entry.is_contestant() && (entry.ranked || entry.at_least) && entry.summary.trials > 0;
}

// Returns whether an entry's figure is a lower bound. A contestant whose load was the limit has a lower bound
// for its throughput, the figure that is better when greater. Its cost is a figure like any other.
bool is_bound(const Entry& entry, stats::Better better) {
  return better == stats::Better::greater && entry.at_least;
}

bool has_place(const Entry& entry, stats::Better better) {
  return competes(entry) && !is_bound(entry, better);
}

// Returns whether the direction of a ratio, above or below 1, holds for the true figures too: a bound may be
// any amount too low.
bool holds(const stats::Ratio& ratio, const Entry& entry, const Entry& reference, stats::Better better) {
  return !is_bound(ratio.estimate > 1 ? reference : entry, better);
}

// Computes the place of an entry relative to the reference. The ratio of a contestant is one of the family's
// comparisons. The ratio of the second entry stands alone.
Ranking::Rank place_of(const stats::Ratio& ratio, const stats::Family& family, double least_difference) {
  if (ratio.rounds == 0) return {};
  return {.ratio = Estimate{.median = ratio.estimate,
                            .interval = ratio.interval,
                            .confidence = family.together(ratio.coverage)},
          .told_apart = stats::differ(ratio, least_difference)};
}

}  // namespace

std::optional<double> throughput(const Trial& trial) {
  return trial.throughput_per_s();
}

std::optional<double> server_cost(const Trial& trial) {
  return trial.server_cpu_us_per_message();
}

Figure latency(const LatencyFigure& figure) {
  return [&figure](const Trial& trial) { return figure.of(trial.load->latency); };
}

RankedBy ranked_by(const CaseResult& one) {
  if (one.ranked_by_latency()) return {latency(*one.latency), stats::Better::smaller};
  return {throughput, stats::Better::greater};
}

const std::optional<Estimate>& ranked_figure(const CaseResult& one, const Entry& entry) {
  const Summary& summary = entry.summary;
  return one.ranked_by_latency() ? summary.latency_by_round.*one.latency->estimate : summary.throughput_per_s;
}

const std::optional<Estimate>& ranked_ratio(const CaseResult& one, const Entry& entry) {
  return one.ranked_by_latency() ? entry.summary.latency_ratio.*one.latency->estimate : entry.summary.ratio;
}

bool no_place_is_told(const CaseResult& one) {
  const auto has_place = [](const Entry* entry) { return entry->tie_group.has_value(); };
  std::vector<const Entry*> compared = contestants_of(one);
  std::erase_if(compared, [&](const Entry* entry) {
    return (!entry->ranked && !entry->at_least) || !ranked_ratio(one, *entry);
  });
  return compared.size() > 1 && one.least_difference > stats::kTellsNothing &&
         std::ranges::none_of(compared, has_place);
}

stats::Rounds by_round(const CaseResult& one, const Entry& entry, const Figure& figure) {
  stats::Rounds figures(rounds_begun(one));
  for (const Trial* trial : usable_trials(entry)) figures[trial->round - 1] = figure(*trial);
  return figures;
}

std::optional<stats::Ratio> reference_to_itself(const CaseResult& one, const Figure& figure) {
  const Entry* reference = find_entry(one, one.reference);
  const Entry* again = second_entry(one);
  if (reference == nullptr || again == nullptr || again->summary.trials == 0) return std::nullopt;
  return stats::compare(by_round(one, *again, figure), by_round(one, *reference, figure), stats::Family(2));
}

// Removes the places if the noise leaves no contestant ahead of another: they would look like a result.
void drop_places_that_tell_nothing(Ranking& ranking) {
  const auto told = [](const Ranking::Rank& place) { return place.tie_group.value_or(1) > 1; };
  const auto counted = [](const Ranking::Rank& place) { return place.tie_group.has_value(); };
  if (ranking.least_difference <= stats::kTellsNothing || std::ranges::any_of(ranking.ranks, told)) return;
  if (std::ranges::count_if(ranking.ranks, counted) < 2) return;
  for (Ranking::Rank& place : ranking.ranks) place.tie_group.reset();
}

// Ranks the entries. Bounds are compared too: differences that they prove are reported, and their noise
// counts as that of the figures.
Ranking rank(const CaseResult& one, const Figure& figure, stats::Better better, std::size_t looks) {
  std::vector<stats::Rounds> noisy, figures;
  for (const Entry& entry : one.entries) {
    if (competes(entry)) noisy.push_back(by_round(one, entry, figure));
    if (has_place(entry, better)) figures.push_back(by_round(one, entry, figure));
  }
  const stats::Family family(noisy.size(), looks);
  if (const Entry* again = second_entry(one)) noisy.push_back(by_round(one, *again, figure));
  double d = stats::least_difference(noisy, family);
  const auto itself = reference_to_itself(one, figure);
  const bool reference_differs = itself && stats::differ(*itself, d);
  if (reference_differs) d = std::max(d, stats::aa_spread(*itself));

  Ranking ranking{.family = family, .least_difference = d, .reference_differs = reference_differs};
  const Entry* reference = find_entry(one, one.reference);
  const std::vector<int> groups = stats::tie_groups(figures, family, d, better);
  auto group = groups.begin();
  for (const Entry& entry : one.entries) {
    Ranking::Rank& place = ranking.ranks.emplace_back();
    if (reference != nullptr && entry.kind != EntryKind::ceiling) {
      const stats::Family own = entry.is_contestant() ? family : stats::Family(2, looks);
      const stats::Ratio ratio =
          stats::compare(by_round(one, entry, figure), by_round(one, *reference, figure), own);
      place = place_of(ratio, own, d);
      if (!holds(ratio, entry, *reference, better)) place.told_apart = false;
    }
    if (!has_place(entry, better)) continue;
    if (*group > 0) place.tie_group = *group;
    ++group;
  }
  drop_places_that_tell_nothing(ranking);
  return ranking;
}

}  // namespace joust::race
