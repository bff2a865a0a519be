// SPDX-License-Identifier: MIT
#include "report/page/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/text.hpp"
#include "base/units.hpp"
#include "race/figures/wording.hpp"
#include "race/set_up/rates.hpp"
#include "report/page/ratios.hpp"
#include "report/row_order.hpp"

namespace joust::report::page {
namespace {

using Rows = std::vector<const Contestant*>;
using Columns = TableOf<Contestant>;
using Format = std::string (*)(double);

constexpr std::size_t kBarColumns = 20;
constexpr std::size_t kShortBarColumns = 10;  // in the table of the answer

bool any_has(const Rows& rows, std::string_view key) {
  return std::ranges::any_of(rows, [&](const Contestant* each) { return each->figure(key) != nullptr; });
}

std::optional<double> value_of(const Measured* figure) {
  return figure == nullptr ? std::nullopt : std::optional(figure->value);
}

// Returns a figure in the format of its unit, unless another format is given.
std::string cell_of(const Contestant& contestant, std::string_view key, Format format = nullptr) {
  const Measured* const figure = contestant.figure(key);
  if (figure == nullptr) return kNone;
  return format != nullptr ? format(figure->value) : figure_text(figure->value, figure_row(key).unit);
}

std::string percentile_cell(const Contestant& contestant, const std::string& percentile) {
  return percentile_text(value_of(contestant.percentile(percentile)), contestant.has_few_beyond(percentile));
}

std::string ratio_cell(const Case& load_case, const Contestant& contestant, RatioOf of) {
  if (ratio_of(load_case, contestant, of) == nullptr) return kNone;
  if (contestant.name == load_case.reference) return "1";
  return is_of_two_bounds(load_case, contestant, of) ? kNone : ratio_text(load_case, contestant, of);
}

std::string throughput_cell(const Contestant& contestant) {
  const std::string mark = contestant.has_result()
                               ? bound_mark(contestant.at_least, contestant.limit_unknown.value_or(false))
                               : "";
  return mark + cell_of(contestant, "throughput_per_s");
}

std::string name_cell(const Case& load_case, const Contestant& contestant) {
  if (!contestant.has_result()) return fmt::format("{} (no result: {})", contestant.name, contestant.reason);
  if (!contestant.ranked && !contestant.at_least)
    return fmt::format("{} (not ranked: {})", contestant.name, contestant.reason);
  return contestant.name == load_case.reference ? contestant.name + " (reference)" : contestant.name;
}

std::string share_text(double share) {
  return race::percent(std::min(1.0, share));
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

void add_figure(Columns& columns, Table::Column column, const std::string& key, Format format = nullptr) {
  columns.add(std::move(column),
              [=](const Contestant& contestant) { return cell_of(contestant, key, format); });
}

void add_name(Columns& columns, Table::Column column) {
  columns.add(std::move(column), [](const Contestant& contestant) { return contestant.name; });
}

void add_percentile(Columns& columns, Table::Column column, const std::string& percentile) {
  columns.add(std::move(column),
              [=](const Contestant& contestant) { return percentile_cell(contestant, percentile); });
}

// Titles of two columns: in a group of its own for a terminal, or each with the title of both.
enum class Titles { grouped, flat };

// Adds a figure of the server and of the client.
void add_sides(Columns& columns, Titles titles, const std::string& title, const std::string& server,
               const std::string& client, Format format = nullptr) {
  const auto add = [&](const std::string& side, std::size_t gap, const std::string& key) {
    add_figure(columns,
               titles == Titles::flat ? Table::Column{.title = fmt::format("{}, {}", title, side)}
                                      : Table::Column{.title = side, .gap = gap, .group = title},
               key, format);
  };
  add("server", 3, server);
  add("client", 2, client);
}

}  // namespace

const FigureRow& first_figure_of(const Case& load_case) {
  if (load_case.by_latency()) return figure_row("latency_ns." + load_case.ranked_by);
  return figure_row(load_case.moves_files() ? "mb_per_s" : "throughput_per_s");
}

Table results_of(const Case& load_case) {
  Columns columns;
  const auto add_ratio = [&](const std::string& title, RatioOf of) {
    columns.add({.title = title}, [=, &load_case](const Contestant& contestant) {
      return ratio_cell(load_case, contestant, of);
    });
  };
  columns.table.leading = 2;
  columns.add({.title = "place"}, [](const Contestant& contestant) { return place_text(contestant.place); });
  columns.add({.title = "contestant", .text = true},
              [&](const Contestant& contestant) { return name_cell(load_case, contestant); });
  columns.add({.title = load_case.unit() + std::string("s/s")}, throughput_cell);
  add_ratio(load_case.by_latency() ? "ratio of " + load_case.ranked_by : "ratio", RatioOf::ranking);
  if (load_case.moves_files())
    add_figure(columns, {.title = "CPU us/file"}, "cost_us_per_message");
  else
    add_figure(columns, {.title = "server CPU us/message"}, "server_cpu_us_per_message");
  add_ratio("ratio of cost", RatioOf::cost);
  if (load_case.moves_files()) {
    add_figure(columns, {.title = "MB/s"}, "mb_per_s");
    add_figure(columns, {.title = "time of a command"}, "latency_ns.intervals.mean");
  } else {
    for (const char* percentile : {"p50", "p99"}) add_percentile(columns, {.title = percentile}, percentile);
  }
  add_figure(columns, {.title = "max"}, "latency_ns.max");
  for (const Contestant* contestant : load_case.rows()) columns.row(*contestant);
  return std::move(columns.table);
}

Table resources_of(const Case& load_case) {
  const std::string each = std::string("/") + load_case.unit();
  Columns columns;
  add_name(columns, {.title = "contestant", .text = true});
  add_sides(columns, Titles::flat, "memory", "peak_memory_bytes.server", "peak_memory_bytes.client");
  add_sides(columns, Titles::flat, "system calls" + each, "system_calls_per_message.server",
            "system_calls_per_message.client");
  add_sides(columns, Titles::flat, "context switches" + each, "switches_per_message.server",
            "switches_per_message.client");
  add_sides(columns, Titles::flat, "CPU in use", "server_utilisation", "client_utilisation");
  for (const Contestant* contestant : load_case.rows())
    if (contestant->has_result()) columns.row(*contestant);
  return std::move(columns.table);
}

// Tables of a terminal.
namespace {

Rows measured_rows_of(const Case& load_case) {
  Rows rows = load_case.rows();
  std::erase_if(rows, [](const Contestant* each) { return each->summary.trials == 0; });
  return rows;
}

Columns named(std::optional<stats::Places> Contestant::*place) {
  Columns columns;
  columns.table.leading = 2;
  columns.add({.title = " ", .text = true, .gap = 1},
              [=](const Contestant& contestant) { return place_text(contestant.*place); });
  add_name(columns, {.title = "contestant", .text = true, .gap = 1});
  return columns;
}

// "95 % together", or "95 % interval" with one comparison.
std::string interval_title(const Case& load_case, RatioOf of) {
  const std::string cost = load_case.moves_files() ? "cpu_us_per_message" : "server_cpu_us_per_message";
  std::size_t pairs = 0;
  bool known = false;
  for (const document::Pair& pair : load_case.pairs) {
    if (pair.figure != (of == RatioOf::cost ? cost : load_case.ranked_by)) continue;
    ++pairs;
    known |= pair.ratio.low && pair.ratio.high;
  }
  if (!known) return "interval";
  return fmt::format("{:.0f} % {}", 100 * stats::kTogether, pairs > 1 ? "together" : "interval");
}

// Returns the ratio that a terminal shows: of two bounds there is none.
const Measured* shown_ratio(const Case& load_case, const Contestant& contestant, RatioOf of) {
  return is_of_two_bounds(load_case, contestant, of) ? nullptr : ratio_of(load_case, contestant, of);
}

// Adds a ratio and its interval. A ratio to or of a bound has a mark.
void add_ratio(const Case& load_case, RatioOf of, const std::string& group, std::size_t gap, int decimals,
               Columns& columns) {
  columns.add({.title = "estimate", .gap = gap, .group = group}, [=, &load_case](const Contestant& each) {
    const Measured* const ratio = shown_ratio(load_case, each, of);
    return ratio == nullptr ? kNone
                            : mark_of_ratio(load_case, each, of) + race::ratio_words(ratio->value, decimals);
  });
  columns.add({.title = interval_title(load_case, of), .group = group},
              [=, &load_case](const Contestant& each) {
                const Measured* const ratio = shown_ratio(load_case, each, of);
                return ratio == nullptr ? kNone : race::interval_words(interval_of(*ratio), decimals);
              });
}

std::string group_of_ratio(const Case& load_case, const std::string& of) {
  return of + (load_case.reference.empty() ? "ratio" : "ratio to " + load_case.reference);
}

void add_ranked_ratio(const Case& load_case, Columns& columns) {
  const std::string &of = load_case.ranked_by, &to = load_case.reference;
  if (!load_case.by_latency())
    add_ratio(load_case, RatioOf::ranking, group_of_ratio(load_case, ""), 2, 2, columns);
  else
    add_ratio(load_case, RatioOf::ranking,
              to.empty() ? "ratio of " + of : fmt::format("{}: ratio to {}", of, to), 3, 2, columns);
}

// Adds what was measured of the rate. At a given rate, replies are beside it.
void add_rates(const Case& load_case, const Rows& rows, std::size_t bar_columns, Columns& columns) {
  if (load_case.by_latency())
    add_figure(columns,
               {.title = "replies/s",
                .gap = 3,
                .group = fmt::format("of {}/s", format_rate(load_case.rate_per_s.value_or(0)))},
               "throughput_per_s");
  else
    columns.add({.title = fmt::format("{}s/s", load_case.unit()), .gap = 3}, throughput_cell);
  if (!load_case.by_latency() && load_case.carries_files())
    add_figure(columns, {.title = "MB/s", .gap = 3}, "mb_per_s", short_number);
  if (any_has(rows, "deliveries_per_s"))
    add_figure(columns, {.title = "deliveries/s", .gap = 3}, "deliveries_per_s");
  if (load_case.by_latency()) return;
  const auto rate_of_bar = [](const Contestant& contestant) {
    return contestant.place || contestant.at_least ? value_of(contestant.figure("throughput_per_s"))
                                                   : std::nullopt;
  };
  double greatest = 0;
  for (const Contestant* each : rows) greatest = std::max(greatest, rate_of_bar(*each).value_or(0));
  columns.add({.text = true, .gap = 1, .decoration = true}, [=](const Contestant& contestant) {
    const auto rate = rate_of_bar(contestant);
    return left(rate ? bar(*rate / greatest, bar_columns) : "", bar_columns);
  });
}

struct Percentile {
  const char *key, *title;
};
std::vector<Percentile> percentiles_of(const Case& load_case) {
  if (load_case.by_latency()) return {{"p50", "p50"}, {"p99", "p99"}, {"p999", "p99.9"}};
  return {{"p50", "p50"}, {"p99", "p99"}};
}

void add_latencies(const Case& load_case, Columns& columns) {
  const std::string group = load_case.moves_files()  ? "time of a command"
                            : load_case.by_latency() ? "latency from the intended send"
                                                     : "latency";
  if (load_case.moves_files())  // the only figure of each trial is its mean
    add_figure(columns, {.title = "median", .gap = 3, .group = group}, "latency_ns.intervals.mean");
  else
    for (std::size_t gap = 3; const auto& [key, title] : percentiles_of(load_case))
      add_percentile(columns, {.title = title, .gap = std::exchange(gap, 2), .group = group}, key);
  add_figure(columns, {.title = "max", .group = group}, "latency_ns.max");
  if (load_case.by_latency())
    columns.add({.title = "p99", .gap = 3, .group = "uncorrected"}, [](const Contestant& contestant) {
      const auto& schedule = contestant.summary.schedule;
      return schedule ? percentile_text(schedule->uncorrected_latency_ns.p99,
                                        has_few_beyond(schedule->uncorrected_latency_ns, "p99"))
                      : kNone;
    });
}

// Names the contestants whose rounds differ much: "p99 by round: epoll 2.10 to 75.6 ms".
std::string rounds_text(const Rows& rows, const Percentile& percentile) {
  constexpr double kMuch = 1.5;
  std::vector<std::string> parts;
  for (const Contestant* contestant : rows) {
    std::vector<double> values;
    for (const Trial& trial : contestant->counted)
      if (const auto found = trial.latency_ns.find(percentile.key); found != trial.latency_ns.end())
        values.push_back(found->second);
    if (values.size() < 2) continue;
    const auto [low, high] = std::ranges::minmax(values);
    if (high > kMuch * low)
      parts.push_back(
          fmt::format("{} {} to {}", race::in_list(contestant->name), format_ns(low), format_ns(high)));
  }
  return parts.empty() ? "" : fmt::format("{} by round: {}", percentile.title, join(parts));
}

// Explains the marks of bounds and of percentiles.
std::vector<std::string> marks_of(const std::vector<Percentile>& percentiles, const Rows& rows) {
  const auto any = [&](auto is_true) {
    return std::ranges::any_of(
        rows, [&](const Contestant* each) { return each->summary.trials > 0 && is_true(*each); });
  };
  std::vector<std::string> notes;
  if (any([](const Contestant& each) { return each.at_least; }))
    notes.emplace_back("≥: a lower bound, as the load was the limit; no place, ordered by cost");
  if (any([](const Contestant& each) { return each.limit_unknown.value_or(false); }))
    notes.emplace_back("?: the load may have been the limit; no place, ordered by cost");
  if (std::ranges::any_of(percentiles, [&](const Percentile& one) {
        return std::ranges::any_of(
            rows, [&](const Contestant* each) { return percentile_cell(*each, one.key).starts_with('~'); });
      }))
    notes.emplace_back("~: fewer than 100 samples lie beyond it");
  return notes;
}

// Explains the marks, and names the contestants whose rounds differ much.
std::vector<std::string> notes_of_results(const Case& load_case, const Rows& rows) {
  std::vector<std::string> notes = marks_of(percentiles_of(load_case), rows);
  for (const Percentile& percentile : percentiles_of(load_case))
    if (std::string rounds = rounds_text(rows, percentile); !rounds.empty())
      notes.push_back(std::move(rounds));
  return notes;
}

// Returns whether it has the first place, and no other contestant was faster, not even by a bound.
bool leads(const Case& load_case, const Rows& rows, const Contestant& contestant) {
  if (!contestant.place || contestant.place->first != 1) return false;
  const auto rate = [](const Contestant& each) { return value_of(each.figure("throughput_per_s")); };
  return load_case.by_latency() || std::ranges::none_of(rows, [&](const Contestant* other) {
           return other->at_least && rate(*other) > rate(contestant);
         });
}

void add_loss(const Rows& rows, Columns& columns) {
  if (!any_has(rows, "loss.of")) return;
  columns.add({.title = "lost", .gap = 3}, [](const Contestant& contestant) {
    return contestant.summary.loss ? race::share_words(*contestant.summary.loss) : kNone;
  });
}

// Adds the rows. A contestant without a result has the reason in place of figures.
void add_rows(const Case& load_case, const Rows& rows, Columns& columns) {
  for (const Contestant* each : rows)
    if (each->summary.trials == 0)
      columns.table.rows.push_back(
          {.cells = {kNone, each->name}, .paint = Paint::dim, .remark = each->reason});
    else
      columns.row(*each, leads(load_case, rows, *each) ? Paint::bold
                         : each->ranked                ? Paint::plain
                                                       : Paint::dim);
}

}  // namespace

Table answer_of(const Case& load_case) {
  static const std::vector<Percentile> kShown{{"p50", "p50"}, {"p99", "p99"}};
  const Rows rows = load_case.rows();
  Columns columns = named(&Contestant::place);
  add_rates(load_case, rows, kShortBarColumns, columns);
  add_ranked_ratio(load_case, columns);
  const Table::Column cpu{.title = fmt::format("us/{}", load_case.unit()),
                          .gap = 3,
                          .group = load_case.moves_files() ? "CPU of both" : "server CPU"};
  if (load_case.moves_files())
    add_figure(columns, cpu, "cost_us_per_message", short_number);
  else
    columns.add(cpu,
                [](const Contestant& each) { return or_none(value_of(each.server_cpu_us()), short_number); });
  if (any_has(rows, "cost_ratio"))
    columns.add({.title = "ratio", .group = cpu.group}, [&](const Contestant& each) {
      const Measured* const ratio = shown_ratio(load_case, each, RatioOf::cost);
      return ratio == nullptr ? kNone : race::ratio_words(ratio->value, 2);
    });
  if (load_case.moves_files())
    add_figure(columns, {.title = "median time", .gap = 3}, "latency_ns.intervals.mean");
  else
    for (std::size_t gap = 3; const auto& [key, title] : kShown)
      add_percentile(columns, {.title = title, .gap = std::exchange(gap, 2)}, key);
  add_loss(rows, columns);
  add_rows(load_case, rows, columns);
  columns.table.notes = marks_of(kShown, rows);
  return std::move(columns.table);
}

Table terminal_results_of(const Case& load_case) {
  const Rows rows = load_case.rows();
  Columns columns = named(&Contestant::place);
  add_rates(load_case, rows, kBarColumns, columns);
  add_ranked_ratio(load_case, columns);
  add_latencies(load_case, columns);
  add_loss(rows, columns);
  Table& table = columns.table;
  add_rows(load_case, rows, columns);
  for (const Contestant& each : load_case.contestants)
    if (each.kind == Kind::ceiling && each.summary.trials > 0 && !load_case.by_latency())
      table.rows.push_back({.cells = {"", each.name, throughput_cell(each)}, .paint = Paint::dim});
  table.notes = notes_of_results(load_case, rows);
  return std::move(table);
}

Table terminal_costs_of(const Case& load_case) {
  Rows rows = measured_rows_of(load_case);
  std::ranges::stable_sort(rows, {}, [](const Contestant* each) {
    return std::tuple(!each->cost_place, value_of(each->figure("cost_us_per_message")).value_or(0));
  });
  const std::string cpu = fmt::format("CPU us/{}", load_case.unit()), use = "CPU in use";
  Columns columns = named(&Contestant::cost_place);
  columns.add({.title = "server", .gap = 3, .group = cpu}, [](const Contestant& contestant) {
    return or_none(value_of(contestant.server_cpu_us()), short_number);
  });
  add_figure(columns, {.title = "client", .group = cpu}, "cpu_us_per_message.client", short_number);
  if (any_has(rows, "busy_us_per_message"))
    add_figure(columns, {.title = "busy", .group = cpu}, "busy_us_per_message", short_number);
  if (any_has(rows, "client_utilisation"))
    add_sides(columns, Titles::grouped, use, "server_utilisation", "client_utilisation", share_text);
  if (any_has(rows, "cost_ratio")) {
    const std::string of = load_case.reference.empty() ? "" : load_case.moves_files() ? "both: " : "server: ";
    add_ratio(load_case, RatioOf::cost, group_of_ratio(load_case, of), 3, 3, columns);
  }
  for (const Contestant* each : rows) columns.row(*each, each->ranked ? Paint::plain : Paint::dim);
  return std::move(columns.table);
}

Table terminal_resources_of(const Case& load_case) {
  const std::string each = std::string("/") + load_case.unit();
  Columns columns;
  columns.table.leading = 2;
  columns.add({.title = " ", .text = true, .gap = 1}, [](const Contestant&) { return left(" ", 2); });
  add_name(columns, {.title = "contestant", .text = true, .gap = 1});
  add_sides(columns, Titles::grouped, "context switches" + each, "switches_per_message.server",
            "switches_per_message.client", short_number);
  add_sides(columns, Titles::grouped, "system calls" + each, "system_calls_per_message.server",
            "system_calls_per_message.client", short_number);
  add_sides(columns, Titles::grouped, "user memory", "peak_memory_bytes.server", "peak_memory_bytes.client");
  for (const Contestant* one : measured_rows_of(load_case))
    columns.row(*one, one->ranked ? Paint::plain : Paint::dim);
  return std::move(columns.table);
}

}  // namespace joust::report::page
