// SPDX-License-Identifier: MIT
#include "report/race_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.hpp"
#include "base/words.hpp"
#include "race/figures/ranking.hpp"
#include "race/figures/wording.hpp"
#include "report/row_order.hpp"

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
  return nanoseconds ? format_ns(*nanoseconds) : kNone;
}

std::string percentile_text(const Distribution& latency, double quantile) {
  const auto value = latency.percentile(quantile);
  if (!value) return kNone;
  return (latency.few_beyond(quantile) ? "~" : "") + latency_text(static_cast<double>(*value));
}

std::optional<double> latency_of_rounds(const Entry& entry, const race::LatencyFigure& figure) {
  if (const auto& rounds = entry.summary.latency_by_round.*figure.estimate) return rounds->median;
  return figure.of(entry.summary.latency);
}

std::string latency_of_rounds_text(const Entry& entry, const race::LatencyFigure& figure) {
  const auto value = latency_of_rounds(entry, figure);
  if (!value) return kNone;
  const bool few = figure.quantile && entry.summary.latency.few_beyond(*figure.quantile);
  return (few ? "~" : "") + latency_text(value);
}

std::string greatest_text(const Distribution& latency) {
  return latency.count() == 0 ? kNone : latency_text(static_cast<double>(latency.max()));
}

std::vector<const Entry*> rows_of(const CaseResult& one) {
  std::vector<const Entry*> rows;
  std::vector<RowFacts> facts;
  for (const Entry& entry : one.entries) {
    if (!entry.is_contestant()) continue;
    const auto& figure = race::ranked_figure(one, entry);
    const auto& cost = entry.summary.cost_us_per_message;
    RowFacts& row = facts.emplace_back();
    row.is_ranked = entry.ranked || entry.at_least;
    row.is_bound = entry.may_be_faster() && !one.ranked_by_latency();
    row.has_place = entry.place.has_value();
    if (figure) row.figure = one.ranked_by_latency() ? figure->median : -figure->median;
    if (cost) row.cost = cost->median;
    row.has_cost_place = entry.cost_place.has_value();
    rows.push_back(&entry);
  }
  std::vector<const Entry*> ordered;
  for (const std::size_t number : row_order(facts)) ordered.push_back(rows[number]);
  return ordered;
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

namespace {

// Returns the entries whose rounds differ much: "p99 by round: epoll 2.10 to 75.6 ms".
std::string rounds_text(const CaseResult& one, const std::vector<const Entry*>& rows,
                        const race::LatencyFigure& figure) {
  constexpr double kMuch = 1.5;
  std::vector<std::string> parts;
  for (const Entry* entry : rows) {
    std::vector<double> values;
    for (const auto& value : race::by_round(one, *entry, race::latency(figure)))
      if (value) values.push_back(*value);
    if (values.size() < 2) continue;
    const auto [low, high] = std::ranges::minmax(values);
    if (high > kMuch * low)
      parts.push_back(fmt::format("{} {} to {}", race::in_list(entry->contestant.name), latency_text(low),
                                  latency_text(high)));
  }
  return parts.empty() ? "" : fmt::format("{} by round: {}", figure.title, join(parts));
}

}  // namespace

std::string legend(const CaseResult& one, const std::vector<const Entry*>& rows,
                   const std::vector<const race::LatencyFigure*>& percentiles, const Terminal& terminal) {
  const auto line = [&](const std::string& text) {
    return painted(wrapped("    " + text, 4, terminal.columns), Paint::dim, terminal) + "\n";
  };
  const auto any = [&](bool Entry::*is_true) {
    return std::ranges::any_of(
        rows, [&](const Entry* entry) { return entry->*is_true && entry->summary.trials > 0; });
  };
  const bool marked = std::ranges::any_of(rows, [&](const Entry* entry) {
    return std::ranges::any_of(percentiles, [&](const race::LatencyFigure* figure) {
      return latency_of_rounds_text(*entry, *figure).starts_with('~');
    });
  });
  std::string text;
  if (any(&Entry::at_least))
    text += line("≥: a lower bound, as the load was the limit; no place, ordered by cost");
  if (any(&Entry::limit_unknown))
    text += line("?: the load may have been the limit; no place, ordered by cost");
  if (marked) text += line("~: fewer than 100 samples lie beyond it");
  for (const race::LatencyFigure* figure : percentiles)
    if (const std::string rounds = rounds_text(one, rows, *figure); !rounds.empty()) text += line(rounds);
  return text;
}

}  // namespace joust::report
