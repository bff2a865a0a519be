// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "base/terminal.hpp"
#include "base/units.hpp"
#include "race/figures/ranking.hpp"
#include "race/figures/wording.hpp"
#include "report/race_cells.hpp"
#include "report/race_figures.hpp"

namespace joust::report {
namespace {

using race::CaseResult;
using race::Entry;

std::vector<TextTable::Column> titles_of(const CaseResult& one, const std::vector<const Entry*>& rows) {
  const std::string ratio_group = one.reference.empty()
                                      ? fmt::format("ratio of {}", one.latency->name)
                                      : fmt::format("{}: ratio to {}", one.latency->name, one.reference);
  std::vector<TextTable::Column> columns{
      {.title = " ", .text = true, .gap = 1},
      {.title = "contestant", .text = true, .gap = 1},
      {.title = "replies/s",
       .gap = 3,
       .group = fmt::format("of {}/s", format_rate(one.plan.load.rate_per_s))}};
  if (has_deliveries(rows)) columns.push_back({.title = "deliveries/s", .gap = 3});
  columns.insert(columns.end(), {{.title = "estimate", .gap = 3, .group = ratio_group},
                                 {.title = interval_title(one.ranking), .gap = 2, .group = ratio_group},
                                 {.title = "p50", .gap = 3, .group = "latency from the intended send"},
                                 {.title = "p99", .group = "latency from the intended send"},
                                 {.title = "p99.9", .group = "latency from the intended send"},
                                 {.title = "max", .group = "latency from the intended send"},
                                 {.title = "p99", .gap = 3, .group = "uncorrected"}});
  if (has_losses(rows)) columns.push_back({.title = "lost", .gap = 3});
  return columns;
}

std::vector<std::string> cells_of(const CaseResult& one, const std::vector<const Entry*>& rows,
                                  const Entry& entry) {
  const race::Summary& summary = entry.summary;
  const auto& ratio = race::ranked_ratio(one, entry);
  const auto& rate = summary.throughput_per_s;
  std::vector<std::string> cells{place_text(entry.place), entry.contestant.name,
                                 rate ? format_count(rate->median) : kNone};
  if (has_deliveries(rows)) cells.push_back(deliveries_text(entry));
  cells.insert(
      cells.end(),
      {ratio ? race::ratio_words(ratio->median, 2) : kNone, interval_text(ratio),
       latency_of_rounds_text(entry, race::kMedianLatency), latency_of_rounds_text(entry, race::kP99Latency),
       latency_of_rounds_text(entry, race::kP999Latency), greatest_text(summary.latency),
       summary.schedule ? percentile_text(summary.schedule->uncorrected, 0.99) : kNone});
  if (has_losses(rows)) cells.push_back(loss_text(entry));
  return cells;
}

}  // namespace

std::string latency_table(const CaseResult& one, const Terminal& terminal) {
  const std::vector<const Entry*> rows = rows_of(one);
  TextTable table(titles_of(one, rows), 2);
  for (const Entry* entry : rows) {
    if (entry->summary.trials == 0) {
      table.remark({kNone, entry->contestant.name}, entry->reason, Paint::dim);
      continue;
    }
    table.row(cells_of(one, rows, *entry), entry->place && entry->place->first == 1 ? Paint::bold
                                           : entry->ranked                          ? Paint::plain
                                                                                    : Paint::dim);
  }
  return table.render(terminal) +
         legend(one, rows, {&race::kMedianLatency, &race::kP99Latency, &race::kP999Latency}, terminal);
}

}  // namespace joust::report
