// SPDX-License-Identifier: MIT
#include "report/race_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/units.hpp"
#include "race/figures/ranking.hpp"
#include "race/figures/wording.hpp"

namespace joust::report {

using race::CaseResult;
using race::Entry;

std::string interval_title(const race::Comparison& comparison) {
  const bool known =
      std::ranges::any_of(comparison.pairs, [](const race::Pair& pair) { return pair.ratio.is_known(); });
  if (!known) return "interval";
  return fmt::format("{:.0f} % {}", 100 * stats::kTogether,
                     comparison.pairs.size() > 1 ? "together" : "interval");
}

std::string interval_text(const std::optional<race::Estimate>& ratio, int digits) {
  if (!ratio) return kNone;
  return race::interval_words(ratio->interval, digits);
}

std::string latency_text(const std::optional<double>& nanoseconds) {
  return nanoseconds ? format_duration(Duration(std::llround(*nanoseconds))) : kNone;
}

std::string percentile_text(const Distribution& latency, double quantile) {
  const auto value = latency.percentile(quantile);
  if (!value) return kNone;
  return (latency.few_beyond(quantile) ? "~" : "") + latency_text(static_cast<double>(*value));
}

std::string greatest_text(const Distribution& latency) {
  return latency.count() == 0 ? kNone : latency_text(static_cast<double>(latency.max()));
}

namespace {

// Returns whether a contestant of which only a lower bound is known is better all the same.
bool is_behind_a_bound(const CaseResult& one, const Entry& entry) {
  return std::ranges::any_of(one.entries, [&](const Entry& other) {
    if (!other.at_least || other.place) return false;
    const auto pair = one.ranking.of(other.contestant.name, entry.contestant.name);
    return pair && pair->decision == stats::Decision::differ;
  });
}

std::tuple<int, int, double> place_of_row(const CaseResult& one, const Entry& entry) {
  const race::Summary& summary = entry.summary;
  const auto& figure = race::ranked_figure(one, entry);
  const auto& cost = summary.cost_us_per_message;
  const double by_figure = !figure ? 0 : one.ranked_by_latency() ? figure->median : -figure->median;
  if (entry.place) return {is_behind_a_bound(one, entry) ? 2 : 0, 0, by_figure};
  if (entry.at_least && figure) return {1, entry.cost_place ? 0 : 1, cost ? cost->median : 0};
  return {figure ? 3 : 4, 0, by_figure};
}

}  // namespace

std::vector<const Entry*> rows_of(const CaseResult& one) {
  std::vector<const Entry*> rows;
  for (const Entry& entry : one.entries)
    if (entry.is_contestant()) rows.push_back(&entry);
  std::ranges::stable_sort(rows, {}, [&](const Entry* entry) { return place_of_row(one, *entry); });
  return rows;
}

std::string place_text(const std::optional<stats::Places>& places) {
  if (!places) return kNone;
  if (places->first == places->last) return fmt::format("{}", places->first);
  return fmt::format("{}-{}", places->first, places->last);
}

bool has_deliveries(const std::vector<const Entry*>& rows) {
  return std::ranges::any_of(rows,
                             [](const Entry* entry) { return entry->summary.deliveries_per_s.has_value(); });
}

std::string deliveries_text(const Entry& entry) {
  return entry.summary.deliveries_per_s ? format_count(*entry.summary.deliveries_per_s) : kNone;
}

bool has_losses(const std::vector<const Entry*>& rows) {
  return std::ranges::any_of(rows, [](const Entry* entry) { return entry->summary.loss.has_value(); });
}

std::string loss_text(const Entry& entry) {
  return entry.summary.loss ? race::share_words(*entry.summary.loss) : kNone;
}

std::string legend(const std::vector<const Entry*>& rows, const std::vector<double>& quantiles,
                   const Terminal& terminal) {
  const auto line = [&](bool wanted, const std::string& text) {
    return wanted ? painted(wrapped("    " + text, 4, terminal.columns), Paint::dim, terminal) + "\n" : "";
  };
  const bool bounds = std::ranges::any_of(
      rows, [](const Entry* entry) { return entry->at_least && entry->summary.trials > 0; });
  const bool marked = std::ranges::any_of(rows, [&](const Entry* entry) {
    return std::ranges::any_of(quantiles, [&](double quantile) {
      return entry->summary.latency.percentile(quantile) && entry->summary.latency.few_beyond(quantile);
    });
  });
  return line(bounds, "≥: a lower bound, as the load was the limit; without a place, ordered by cost") +
         line(marked, "~: fewer than 100 samples lie beyond it");
}

}  // namespace joust::report
