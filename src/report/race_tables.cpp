// SPDX-License-Identifier: MIT
#include "report/race_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>

#include "base/text.hpp"
#include "base/units.hpp"
#include "race/figures/ranking.hpp"
#include "race/figures/wording.hpp"
#include "report/row_order.hpp"

namespace joust::report {

using race::CaseResult;
using race::Entry;

std::optional<double> median(const std::optional<race::Estimate>& estimate) {
  return estimate ? std::optional(estimate->median) : std::nullopt;
}

std::optional<double> latency_of_rounds(const Entry& entry, const race::LatencyFigure& figure) {
  if (const auto rounds = median(entry.summary.latency_by_round.*figure.estimate)) return rounds;
  return figure.of(entry.summary.latency);
}

bool carries_files(const CaseResult& one) {
  return std::ranges::any_of(one.entries,
                             [](const Entry& entry) { return entry.summary.mb_per_s.has_value(); });
}

namespace {

using Rows = std::vector<const Entry*>;
using Columns = TableOf<Entry>;

constexpr std::size_t kBarColumns = 20;
constexpr std::size_t kShortBarColumns = 10;  // in the summary

// Returns the rows of a table, in their order.
Rows rows_of(const CaseResult& one) {
  Rows rows;
  for (const Entry& entry : one.entries)
    if (entry.is_contestant()) rows.push_back(&entry);
  return in_row_order(
      rows, one.ranked_by_latency(),
      [&](const Entry& entry) { return median(race::ranked_figure(one, entry)); },
      [](const Entry& entry) { return median(entry.summary.cost_us_per_message); });
}

Rows measured_rows_of(const CaseResult& one) {
  Rows rows = rows_of(one);
  std::erase_if(rows, [](const Entry* entry) { return entry->summary.trials == 0; });
  return rows;
}

// Returns whether any of these has a figure.
template <typename Figure>
bool any_has(const Rows& rows, std::optional<Figure> race::Summary::*figure) {
  return std::ranges::any_of(rows, [&](const Entry* entry) { return (entry->summary.*figure).has_value(); });
}

std::string share_text(double share) {
  return race::percent(std::min(1.0, share));
}

std::string latency_of_rounds_text(const Entry& entry, const race::LatencyFigure& figure) {
  return percentile_text(latency_of_rounds(entry, figure),
                         figure.quantile && entry.summary.latency.few_beyond(*figure.quantile));
}

// Draws a bar in eighths of a column.
std::string bar(double fraction, std::size_t columns) {
  constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<std::size_t>(
      std::lround(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(columns) * 8));
  std::string text;
  for (std::size_t i = 0; i < eighths / 8; ++i) text += "█";
  return text + kEighths[eighths % 8];
}

std::string rate_cell(const Entry& entry) {
  const auto& rate = entry.summary.throughput_per_s;
  return rate ? bound_mark(entry.at_least, entry.limit_unknown) + format_count(rate->median) : kNone;
}

Columns named(std::optional<stats::Places> Entry::*place) {
  Columns columns;
  columns.table.leading = 2;
  columns.add({.title = " ", .text = true, .gap = 1},
              [=](const Entry& entry) { return place_text(entry.*place); });
  columns.add({.title = "contestant", .text = true, .gap = 1},
              [](const Entry& entry) { return entry.contestant.name; });
  return columns;
}

// "95 % together", or "95 % interval" with one comparison.
std::string interval_title(const race::Comparison& comparison) {
  const bool known =
      std::ranges::any_of(comparison.pairs, [](const race::Pair& pair) { return pair.ratio.is_known(); });
  if (!known) return "interval";
  return fmt::format("{:.0f} % {}", 100 * stats::kTogether,
                     comparison.pairs.size() > 1 ? "together" : "interval");
}

std::string group_of_ratio(const CaseResult& one, const std::string& of) {
  return of + (one.reference.empty() ? "ratio" : "ratio to " + one.reference);
}

// The columns of a ratio and its interval.
struct RatioColumns {
  std::string group;
  std::size_t gap;
  int decimals;
  std::function<std::optional<race::Estimate>(const Entry&)> of;
  // Returns what is written before it.
  std::function<std::string(const Entry&)> mark = [](const Entry&) { return std::string(); };
};

void add_ratio(const RatioColumns& ratio, const race::Comparison& comparison, Columns& columns) {
  columns.add({.title = "estimate", .gap = ratio.gap, .group = ratio.group}, [=](const Entry& entry) {
    const auto value = ratio.of(entry);
    return value ? ratio.mark(entry) + race::ratio_words(value->median, ratio.decimals) : kNone;
  });
  columns.add({.title = interval_title(comparison), .group = ratio.group}, [=](const Entry& entry) {
    const auto value = ratio.of(entry);
    return value ? race::interval_words(value->interval, ratio.decimals) : kNone;
  });
}

// Adds the ratio by the figure that ranks. Of a throughput that is a bound so is the ratio: "≥ 1.56", or
// "≤ 1.56" if the reference is one. Two bounds have no ratio.
void add_ranked_ratio(const CaseResult& one, Columns& columns) {
  if (one.ranked_by_latency()) {
    const std::string of = one.latency->name;
    const std::string group =
        one.reference.empty() ? "ratio of " + of : fmt::format("{}: ratio to {}", of, one.reference);
    return add_ratio({.group = group,
                      .gap = 3,
                      .decimals = 2,
                      .of = [&one](const Entry& entry) { return race::ranked_ratio(one, entry); }},
                     one.ranking, columns);
  }
  const Entry* const reference = race::find_entry(one, one.reference);
  const auto is_to_bound = [reference](const Entry& entry) {
    return reference != nullptr && reference != &entry && reference->at_least;
  };
  add_ratio({.group = group_of_ratio(one, ""),
             .gap = 2,
             .decimals = 2,
             .of =
                 [=](const Entry& entry) {
                   return entry.at_least && is_to_bound(entry) ? std::nullopt : entry.summary.ratio;
                 },
             .mark =
                 [=](const Entry& entry) {
                   return entry.at_least && reference != &entry ? "≥ " : is_to_bound(entry) ? "≤ " : "";
                 }},
            one.ranking, columns);
}

// Adds what was measured of the rate. At a given rate, replies are beside it.
void add_rates(const CaseResult& one, const Rows& rows, std::size_t bar_columns, Columns& columns) {
  if (one.ranked_by_latency())
    columns.add(
        {.title = "replies/s",
         .gap = 3,
         .group = fmt::format("of {}/s", format_rate(one.plan.load.rate_per_s))},
        [](const Entry& entry) { return or_none(median(entry.summary.throughput_per_s), format_count); });
  else
    columns.add({.title = fmt::format("{}s/s", one.plan.unit()), .gap = 3}, rate_cell);
  if (!one.ranked_by_latency() && carries_files(one))
    columns.add({.title = "MB/s", .gap = 3},
                [](const Entry& entry) { return or_none(entry.summary.mb_per_s, short_number); });
  if (any_has(rows, &race::Summary::deliveries_per_s))
    columns.add({.title = "deliveries/s", .gap = 3},
                [](const Entry& entry) { return or_none(entry.summary.deliveries_per_s, format_count); });
  if (one.ranked_by_latency()) return;
  const auto rate_of_bar = [](const Entry& entry) {
    return entry.place || entry.at_least ? median(entry.summary.throughput_per_s) : std::nullopt;
  };
  double greatest = 0;
  for (const Entry* entry : rows) greatest = std::max(greatest, rate_of_bar(*entry).value_or(0));
  columns.add({.text = true, .gap = 1, .decoration = true}, [=](const Entry& entry) {
    const auto rate = rate_of_bar(entry);
    return left(rate ? bar(*rate / greatest, bar_columns) : "", bar_columns);
  });
}

std::vector<const race::LatencyFigure*> percentiles_of(const CaseResult& one) {
  if (one.ranked_by_latency()) return {&race::kMedianLatency, &race::kP99Latency, &race::kP999Latency};
  return {&race::kMedianLatency, &race::kP99Latency};
}

void add_latencies(const CaseResult& one, Columns& columns) {
  const std::string group = one.plan.files            ? "time of a command"
                            : one.ranked_by_latency() ? "latency from the intended send"
                                                      : "latency";
  if (one.plan.files)  // the only figure of each trial is its mean
    columns.add({.title = "median", .gap = 3, .group = group}, [](const Entry& entry) {
      return or_none(median(entry.summary.latency_by_round.mean), format_ns);
    });
  else
    for (std::size_t gap = 3; const race::LatencyFigure* figure : percentiles_of(one))
      columns.add({.title = figure->title, .gap = std::exchange(gap, 2), .group = group},
                  [=](const Entry& entry) { return latency_of_rounds_text(entry, *figure); });
  columns.add({.title = "max", .group = group}, [](const Entry& entry) {
    const Distribution& latency = entry.summary.latency;
    return latency.count() == 0 ? kNone : format_ns(static_cast<double>(latency.max()));
  });
  if (one.ranked_by_latency())
    columns.add({.title = "p99", .gap = 3, .group = "uncorrected"}, [](const Entry& entry) {
      const auto& schedule = entry.summary.schedule;
      return schedule ? percentile_text(schedule->uncorrected.percentile(0.99),
                                        schedule->uncorrected.few_beyond(0.99))
                      : kNone;
    });
}

// Names the entries whose rounds differ much: "p99 by round: epoll 2.10 to 75.6 ms".
std::string rounds_text(const CaseResult& one, const Rows& rows, const race::LatencyFigure& figure) {
  constexpr double kMuch = 1.5;
  std::vector<std::string> parts;
  for (const Entry* entry : rows) {
    std::vector<double> values;
    for (const auto& value : race::by_round(one, *entry, race::latency(figure)))
      if (value) values.push_back(*value);
    if (values.size() < 2) continue;
    const auto [low, high] = std::ranges::minmax(values);
    if (high > kMuch * low)
      parts.push_back(
          fmt::format("{} {} to {}", race::in_list(entry->contestant.name), format_ns(low), format_ns(high)));
  }
  return parts.empty() ? "" : fmt::format("{} by round: {}", figure.title, join(parts));
}

// Explains the marks of bounds and of percentiles.
std::vector<std::string> marks_of(const CaseResult& one, const Rows& rows) {
  const auto any = [&](bool Entry::*is_true) {
    return std::ranges::any_of(
        rows, [&](const Entry* entry) { return entry->*is_true && entry->summary.trials > 0; });
  };
  const std::vector<const race::LatencyFigure*> percentiles = percentiles_of(one);
  const bool marked = std::ranges::any_of(rows, [&](const Entry* entry) {
    return std::ranges::any_of(percentiles, [&](const race::LatencyFigure* figure) {
      return latency_of_rounds_text(*entry, *figure).starts_with('~');
    });
  });
  std::vector<std::string> notes;
  if (any(&Entry::at_least))
    notes.emplace_back("≥: a lower bound, as the load was the limit; no place, ordered by cost");
  if (any(&Entry::limit_unknown))
    notes.emplace_back("?: the load may have been the limit; no place, ordered by cost");
  if (marked) notes.emplace_back("~: fewer than 100 samples lie beyond it");
  return notes;
}

// Explains the marks, and names the entries whose rounds differ much.
std::vector<std::string> notes_of_results(const CaseResult& one, const Rows& rows) {
  std::vector<std::string> notes = marks_of(one, rows);
  for (const race::LatencyFigure* figure : percentiles_of(one))
    if (std::string rounds = rounds_text(one, rows, *figure); !rounds.empty())
      notes.push_back(std::move(rounds));
  return notes;
}

// Returns whether it has the first place, and no other contestant was faster, not even by a bound.
bool leads(const CaseResult& one, const Rows& rows, const Entry& entry) {
  if (!entry.place || entry.place->first != 1) return false;
  return one.ranked_by_latency() || std::ranges::none_of(rows, [&](const Entry* other) {
           return other->at_least &&
                  other->summary.throughput_per_s->median > entry.summary.throughput_per_s->median;
         });
}

// Adds the rows. A contestant without a result has the reason in place of figures.
void add_rows(const CaseResult& one, const Rows& rows, Columns& columns) {
  for (const Entry* entry : rows)
    if (entry->summary.trials == 0)
      columns.table.rows.push_back(
          {.cells = {kNone, entry->contestant.name}, .paint = Paint::dim, .remark = entry->reason});
    else
      columns.row(*entry, leads(one, rows, *entry) ? Paint::bold : entry->ranked ? Paint::plain : Paint::dim);
}

std::string server_cost_cell(const Entry& entry) {
  const auto cost = median(entry.summary.server_cpu_us_per_message);
  return or_none(cost ? cost : entry.summary.cpu_us_per_message.server, short_number);
}

}  // namespace

Table answer_table(const CaseResult& one) {
  const Rows rows = rows_of(one);
  Columns columns = named(&Entry::place);
  add_rates(one, rows, kShortBarColumns, columns);
  add_ranked_ratio(one, columns);
  const std::string cpu = one.plan.files ? "CPU of both" : "server CPU";
  columns.add({.title = fmt::format("us/{}", one.plan.unit()), .gap = 3, .group = cpu},
              [&one](const Entry& entry) {
                return one.plan.files ? or_none(median(entry.summary.cost_us_per_message), short_number)
                                      : server_cost_cell(entry);
              });
  if (any_has(rows, &race::Summary::cost_ratio))
    columns.add({.title = "ratio", .group = cpu}, [](const Entry& entry) {
      const auto& ratio = entry.summary.cost_ratio;
      return ratio ? race::ratio_words(ratio->median, 2) : kNone;
    });
  if (one.plan.files)
    columns.add({.title = "median time", .gap = 3}, [](const Entry& entry) {
      return or_none(median(entry.summary.latency_by_round.mean), format_ns);
    });
  else
    for (std::size_t gap = 3; const race::LatencyFigure* figure : {&race::kMedianLatency, &race::kP99Latency})
      columns.add({.title = figure->title, .gap = std::exchange(gap, 2)},
                  [=](const Entry& entry) { return latency_of_rounds_text(entry, *figure); });
  if (any_has(rows, &race::Summary::loss))
    columns.add({.title = "lost", .gap = 3}, [](const Entry& entry) {
      return entry.summary.loss ? race::share_words(*entry.summary.loss) : kNone;
    });
  add_rows(one, rows, columns);
  columns.table.notes = marks_of(one, rows);
  return std::move(columns.table);
}

Table results_of(const CaseResult& one) {
  const Rows rows = rows_of(one);
  Columns columns = named(&Entry::place);
  add_rates(one, rows, kBarColumns, columns);
  add_ranked_ratio(one, columns);
  add_latencies(one, columns);
  if (any_has(rows, &race::Summary::loss))
    columns.add({.title = "lost", .gap = 3}, [](const Entry& entry) {
      return entry.summary.loss ? race::share_words(*entry.summary.loss) : kNone;
    });
  Table& table = columns.table;
  add_rows(one, rows, columns);
  for (const Entry& entry : one.entries)
    if (entry.kind == race::EntryKind::ceiling && entry.summary.trials > 0 && !one.ranked_by_latency())
      table.rows.push_back({.cells = {"", entry.contestant.name, rate_cell(entry)}, .paint = Paint::dim});
  table.notes = notes_of_results(one, rows);
  return std::move(table);
}

namespace {

// Says what the CPU times contain. Loopback has no interrupts: whoever sends runs the network stack up to the
// receiver's socket, and wakes the receiver.
constexpr const char* kOnLoopback =
    "on loopback the sender of a message runs the network stack up to the receiver's socket, and wakes the "
    "receiver: the server's CPU time contains a part of the client's receiving, and the other way round";
constexpr const char* kOverHosts =
    "each host receives messages in interrupts, whose time is in a side's CPU time only where they interrupt "
    "it";

std::string note_of_costs(const race::RaceResult& race, const Rows& rows) {
  std::string text = race.hosts.empty() ? kOnLoopback : kOverHosts;
  if (std::ranges::any_of(rows, [](const Entry* entry) { return entry->server_polls(); }))
    text += "; that of a server that polls is the time of its core, and has no place";
  if (any_has(rows, &race::Summary::busy_us_per_message))
    text += ". busy: time in which the CPUs of both sides were not idle, whoever used them, interrupts too";
  return text;
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

}  // namespace

Table costs_of(const race::RaceResult& race, const CaseResult& one) {
  Rows rows = measured_rows_of(one);
  std::ranges::stable_sort(rows, {}, [](const Entry* entry) {
    return std::tuple(!entry->cost_place, median(entry->summary.cost_us_per_message).value_or(0));
  });
  const std::string cpu = fmt::format("CPU us/{}", one.plan.unit()), use = "CPU in use";
  Columns columns = named(&Entry::cost_place);
  columns.add({.title = "server", .gap = 3, .group = cpu}, server_cost_cell);
  columns.add({.title = "client", .group = cpu}, [](const Entry& entry) {
    return or_none(entry.summary.cpu_us_per_message.client, short_number);
  });
  if (any_has(rows, &race::Summary::busy_us_per_message))
    columns.add({.title = "busy", .group = cpu},
                [](const Entry& entry) { return or_none(entry.summary.busy_us_per_message, short_number); });
  if (any_has(rows, &race::Summary::client_utilisation)) {
    columns.add({.title = "server", .gap = 3, .group = use}, [](const Entry& entry) {
      return or_none(median(entry.summary.server_utilisation), share_text);
    });
    columns.add({.title = "client", .group = use}, [](const Entry& entry) {
      return or_none(median(entry.summary.client_utilisation), share_text);
    });
  }
  if (any_has(rows, &race::Summary::cost_ratio)) {
    const std::string of = one.reference.empty() ? "" : one.plan.files ? "both: " : "server: ";
    add_ratio({.group = group_of_ratio(one, of),
               .gap = 3,
               .decimals = 3,
               .of = [](const Entry& entry) { return entry.summary.cost_ratio; }},
              one.costs, columns);
  }
  for (const Entry* entry : rows) columns.row(*entry, entry->ranked ? Paint::plain : Paint::dim);
  if (!rows.empty()) columns.table.notes.push_back(note_of_costs(race, rows));
  return std::move(columns.table);
}

Table resources_of(const CaseResult& one) {
  Columns columns;
  columns.table.leading = 2;
  columns.add({.title = " ", .text = true, .gap = 1}, [](const Entry&) { return left(" ", 2); });
  columns.add({.title = "contestant", .text = true, .gap = 1},
              [](const Entry& entry) { return entry.contestant.name; });
  const auto add_sides = [&](const std::string& group, race::Sides race::Summary::*figure,
                             std::string (*format)(double)) {
    columns.add({.title = "server", .gap = 3, .group = group},
                [=](const Entry& entry) { return or_none((entry.summary.*figure).server, format); });
    columns.add({.title = "client", .group = group},
                [=](const Entry& entry) { return or_none((entry.summary.*figure).client, format); });
  };
  add_sides(fmt::format("context switches/{}", one.plan.unit()), &race::Summary::switches_per_message,
            short_number);
  add_sides(fmt::format("system calls/{}", one.plan.unit()), &race::Summary::system_calls_per_message,
            short_number);
  add_sides("user memory", &race::Summary::peak_memory_bytes, format_bytes);
  for (const Entry* entry : measured_rows_of(one))
    columns.row(*entry, entry->ranked ? Paint::plain : Paint::dim);
  if (const std::string remark = remark_on_calls(one); !remark.empty())
    columns.table.notes.push_back("system calls: " + remark);
  return std::move(columns.table);
}

}  // namespace joust::report
