// SPDX-License-Identifier: MIT
#include "report/race_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.hpp"
#include "base/words.hpp"
#include "race/figures/wording.hpp"
#include "report/race_cells.hpp"
#include "report/row_order.hpp"

namespace joust::report {
namespace {

using race::CaseResult;
using race::Entry;
using race::EntryKind;

constexpr std::size_t kBarColumns = 20;

std::string number_text(const std::optional<double>& number) {
  return number ? short_number(*number) : kNone;
}

std::string share_text(const std::optional<race::Estimate>& share) {
  return share ? race::percent(std::min(1.0, share->median)) : kNone;
}

std::string memory_text(const std::optional<double>& bytes) {
  return bytes ? format_bytes(*bytes) : kNone;
}

// Formats a ratio: "1.56", "≥ 1.56" if the entry is a bound, "≤ 1.56" if the reference is one. Two bounds
// have no ratio.
std::string ratio_text(const CaseResult& one, const Entry& entry) {
  if (!entry.summary.ratio) return kNone;
  const Entry* const reference = race::find_entry(one, one.reference);
  const bool to_bound = reference != nullptr && reference != &entry && reference->at_least;
  if (entry.at_least && to_bound) return kNone;
  const bool of_bound = entry.at_least && reference != &entry;
  return (of_bound ? "≥ " : to_bound ? "≤ " : "") + race::ratio_words(entry.summary.ratio->median, 2);
}

// Draws a bar in eighths of a column.
std::string bar(double fraction) {
  constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths =
      static_cast<std::size_t>(std::lround(std::clamp(fraction, 0.0, 1.0) * kBarColumns * 8));
  std::string text;
  for (std::size_t i = 0; i < eighths / 8; ++i) text += "█";
  return text + kEighths[eighths % 8];
}

std::string rate_text(const Entry& entry) {
  const auto& rate = entry.summary.throughput_per_s;
  return rate ? bound_mark(entry.at_least, entry.limit_unknown) + format_count(rate->median) : kNone;
}

double greatest_rate(const std::vector<const Entry*>& rows) {
  double greatest = 0;
  for (const Entry* entry : rows)
    if (entry->summary.throughput_per_s && (entry->place || entry->at_least))
      greatest = std::max(greatest, entry->summary.throughput_per_s->median);
  return greatest;
}

// Returns whether no other contestant was faster, not even by a bound.
bool leads(const std::vector<const Entry*>& rows, const Entry& one) {
  return std::ranges::none_of(rows, [&](const Entry* other) {
    return other->at_least && other->summary.throughput_per_s->median > one.summary.throughput_per_s->median;
  });
}

// Returns whether the case transfers files. Then the table shows bytes, which are more useful than the number
// of files.
bool carries_files(const CaseResult& one) {
  return std::ranges::any_of(one.entries,
                             [](const Entry& entry) { return entry.summary.mb_per_s.has_value(); });
}

std::vector<TextTable::Column> result_columns(const CaseResult& one, const std::vector<const Entry*>& rows) {
  const std::string ratio_group = one.reference.empty() ? "ratio" : "ratio to " + one.reference;
  std::vector<TextTable::Column> columns{{.title = " ", .text = true, .gap = 1},
                                         {.title = "contestant", .text = true, .gap = 1},
                                         {.title = fmt::format("{}s/s", one.plan.unit()), .gap = 3}};
  if (carries_files(one)) columns.push_back({.title = "MB/s", .gap = 3});
  if (has_deliveries(rows)) columns.push_back({.title = "deliveries/s", .gap = 3});
  columns.insert(columns.end(), {{.title = "", .text = true, .gap = 1, .decoration = true},
                                 {.title = "estimate", .gap = 2, .group = ratio_group},
                                 {.title = interval_title(one.ranking), .gap = 2, .group = ratio_group}});
  if (one.plan.files)
    columns.insert(columns.end(), {{.title = "median", .gap = 3, .group = "time of a command"},
                                   {.title = "max", .group = "time of a command"}});
  else
    columns.insert(columns.end(), {{.title = "p50", .gap = 3, .group = "latency"},
                                   {.title = "p99", .group = "latency"},
                                   {.title = "max", .group = "latency"}});
  if (has_losses(rows)) columns.push_back({.title = "lost", .gap = 3});
  return columns;
}

std::vector<std::string> result_cells(const CaseResult& one, const std::vector<const Entry*>& rows,
                                      const Entry& entry) {
  const race::Summary& summary = entry.summary;
  std::vector<std::string> cells{place_text(entry.place), entry.contestant.name, rate_text(entry)};
  if (carries_files(one)) cells.push_back(number_text(summary.mb_per_s));
  if (has_deliveries(rows)) cells.push_back(deliveries_text(entry));
  const auto& rate = summary.throughput_per_s;
  const std::string ratio = ratio_text(one, entry);
  const bool has_bar = rate && (entry.place || entry.at_least);
  cells.insert(cells.end(), {left(has_bar ? bar(rate->median / greatest_rate(rows)) : "", kBarColumns), ratio,
                             ratio == kNone ? kNone : interval_text(summary.ratio)});
  if (one.plan.files) {  // the only figure of each trial is its mean
    const auto& times = summary.latency_by_round.mean;
    cells.push_back(latency_text(times ? std::optional(times->median) : std::nullopt));
  } else {
    cells.push_back(latency_of_rounds_text(entry, race::kMedianLatency));
    cells.push_back(latency_of_rounds_text(entry, race::kP99Latency));
  }
  cells.push_back(greatest_text(summary.latency));
  if (has_losses(rows)) cells.push_back(loss_text(entry));
  return cells;
}

bool knows_busy(const std::vector<const Entry*>& rows) {
  return std::ranges::any_of(
      rows, [](const Entry* entry) { return entry->summary.busy_us_per_message.has_value(); });
}

// Says what the CPU times contain. Loopback has no interrupts: whoever sends runs the network stack
// up to the receiver's socket, and wakes the receiver.
constexpr const char* kOnLoopback =
    "on loopback the sender of a message runs the network stack up to the receiver's socket, and wakes the "
    "receiver: the server's CPU time contains a part of the client's receiving, and the other way round";
constexpr const char* kOverHosts =
    "each host receives messages in interrupts, whose time is in a side's CPU time only where they interrupt "
    "it";

std::string cost_legend(const race::RaceResult& race, const std::vector<const Entry*>& rows,
                        const Terminal& terminal) {
  if (rows.empty()) return {};
  std::string text = race.hosts.empty() ? kOnLoopback : kOverHosts;
  if (std::ranges::any_of(rows, [](const Entry* entry) { return entry->server_polls(); }))
    text += "; that of a server that polls is the time of its core, and has no place";
  if (knows_busy(rows))
    text += ". busy: time in which the CPUs of both sides were not idle, whoever used them, interrupts too";
  return painted(wrapped("    " + text, 4, terminal.columns), Paint::dim, terminal) + "\n";
}

}  // namespace

std::string results_table(const CaseResult& one, const Terminal& terminal) {
  if (one.ranked_by_latency()) return latency_table(one, terminal);
  const std::vector<const Entry*> rows = rows_of(one);
  TextTable table(result_columns(one, rows), 2);
  for (const Entry* entry : rows) {
    if (entry->summary.trials == 0) {
      table.remark({kNone, entry->contestant.name}, entry->reason, Paint::dim);
      continue;
    }
    const Paint paint = entry->place && entry->place->first == 1 && leads(rows, *entry) ? Paint::bold
                        : entry->ranked                                                 ? Paint::plain
                                                                                        : Paint::dim;
    table.row(result_cells(one, rows, *entry), paint);
  }
  for (const Entry& entry : one.entries)
    if (entry.kind == EntryKind::ceiling && entry.summary.trials > 0)
      table.row({"", entry.contestant.name, rate_text(entry)}, Paint::dim);
  return table.render(terminal) + legend(one, rows, {&race::kMedianLatency, &race::kP99Latency}, terminal);
}

std::string cpu_table(const race::RaceResult& race, const CaseResult& one, const Terminal& terminal) {
  std::vector<const Entry*> rows = rows_of(one);
  std::erase_if(rows, [](const Entry* entry) { return entry->summary.trials == 0; });
  std::ranges::stable_sort(rows, {}, [](const Entry* entry) {
    const auto& cost = entry->summary.cost_us_per_message;
    return std::tuple(!entry->cost_place, cost ? cost->median : 0.0);
  });
  const std::string group = one.reference.empty() ? "ratio"
                            : one.plan.files      ? "both: ratio to " + one.reference
                                                  : "server: ratio to " + one.reference;
  const std::string cpu = fmt::format("CPU us/{}", one.plan.unit());
  std::vector<TextTable::Column> columns{{.title = " ", .text = true, .gap = 1},
                                         {.title = "contestant", .text = true, .gap = 1},
                                         {.title = "server", .gap = 3, .group = cpu},
                                         {.title = "client", .gap = 2, .group = cpu}};
  if (knows_busy(rows)) columns.push_back({.title = "busy", .gap = 2, .group = cpu});
  const std::string utilisation = "CPU in use";
  const bool knows_use = std::ranges::any_of(
      rows, [](const Entry* entry) { return entry->summary.client_utilisation.has_value(); });
  if (knows_use) {
    columns.push_back({.title = "server", .gap = 3, .group = utilisation});
    columns.push_back({.title = "client", .gap = 2, .group = utilisation});
  }
  const bool compares =
      std::ranges::any_of(rows, [](const Entry* entry) { return entry->summary.cost_ratio.has_value(); });
  if (compares) {
    columns.push_back({.title = "estimate", .gap = 3, .group = group});
    columns.push_back({.title = interval_title(one.costs), .gap = 2, .group = group});
  }
  TextTable table(std::move(columns), 2);
  for (const Entry* entry : rows) {
    const race::Summary& s = entry->summary;
    const auto& cost = s.server_cpu_us_per_message;
    std::vector<std::string> cells{
        place_text(entry->cost_place), entry->contestant.name,
        number_text(cost ? std::optional(cost->median) : s.cpu_us_per_message.server),
        number_text(s.cpu_us_per_message.client)};
    if (knows_busy(rows)) cells.push_back(number_text(s.busy_us_per_message));
    if (knows_use) {
      cells.push_back(share_text(s.server_utilisation));
      cells.push_back(share_text(s.client_utilisation));
    }
    if (compares) {
      cells.push_back(s.cost_ratio ? race::ratio_words(s.cost_ratio->median, 3) : kNone);
      cells.push_back(interval_text(s.cost_ratio, 3));
    }
    table.row(std::move(cells), entry->ranked ? Paint::plain : Paint::dim);
  }
  return table.render(terminal) + cost_legend(race, rows, terminal);
}

// Says of which trials the counts of calls are, and why some are missing. Empty if nobody has a result.
std::string remark_on_calls(const CaseResult& one) {
  std::vector<std::string> reasons;
  bool any = false;
  for (const Entry& entry : one.entries) {
    if (!entry.is_contestant() || entry.summary.trials == 0) continue;
    any |= entry.calls.reason.empty();
    if (!entry.calls.reason.empty() && std::ranges::count(reasons, entry.calls.reason) == 0)
      reasons.push_back(entry.calls.reason);
  }
  if (any) reasons.insert(reasons.begin(), "counted in one more trial of each contestant");
  return join(reasons, "; ");
}

std::string costs_table(const CaseResult& one, const Terminal& terminal) {
  std::vector<TextTable::Column> columns{{.title = " ", .text = true, .gap = 1},
                                         {.title = "contestant", .text = true, .gap = 1}};
  const std::string of_each = fmt::format("/{}", one.plan.unit());
  for (const std::string& group :
       {"context switches" + of_each, "system calls" + of_each, std::string("user memory")}) {
    columns.push_back({.title = "server", .gap = 3, .group = group});
    columns.push_back({.title = "client", .gap = 2, .group = group});
  }
  TextTable table(std::move(columns), 2);
  for (const Entry* entry : rows_of(one)) {
    const race::Summary& s = entry->summary;
    if (s.trials == 0) continue;
    table.row({left(" ", 2), entry->contestant.name, number_text(s.switches_per_message.server),
               number_text(s.switches_per_message.client), number_text(s.system_calls_per_message.server),
               number_text(s.system_calls_per_message.client), memory_text(s.peak_memory_bytes.server),
               memory_text(s.peak_memory_bytes.client)},
              entry->ranked ? Paint::plain : Paint::dim);
  }
  const std::string remark = remark_on_calls(one);
  const std::string line = wrapped(fmt::format("    system calls: {}", remark), 4, terminal.columns);
  return table.render(terminal) +
         (remark.empty() ? std::string() : painted(line, Paint::dim, terminal) + "\n");
}

}  // namespace joust::report
