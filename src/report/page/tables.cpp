// SPDX-License-Identifier: MIT
#include "report/page/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "race/checks/checks.hpp"
#include "report/page/faces.hpp"
#include "report/page/ratios.hpp"
#include "report/row_order.hpp"

namespace joust::report::page {
namespace {

std::string cell_of(const Contestant& contestant, std::string_view key) {
  const Measured* const figure = contestant.figure(key);
  return figure == nullptr ? kNone : figure_text(figure->value, figure_row(key).unit);
}

std::string percentile_cell(const Contestant& contestant, const std::string& percentile) {
  const Measured* const figure = contestant.percentile(percentile);
  return percentile_text(figure == nullptr ? std::nullopt : std::optional(figure->value),
                         contestant.has_few_beyond(percentile));
}

std::string ratio_cell(const Case& load_case, const Contestant& contestant, RatioOf of) {
  const Measured* const ratio = ratio_of(load_case, contestant, of);
  if (ratio == nullptr) return kNone;
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

}  // namespace

const FigureRow& first_figure_of(const Case& load_case) {
  if (load_case.by_latency()) return figure_row("latency_ns." + load_case.ranked_by);
  return figure_row(load_case.moves_files() ? "mb_per_s" : "throughput_per_s");
}

Table results_of(const Case& load_case) {
  const bool files = load_case.moves_files();
  TableOf<Contestant> columns;
  const auto add_figure = [&](const char* title, const char* key) {
    columns.add({.title = title}, [=](const Contestant& contestant) { return cell_of(contestant, key); });
  };
  const auto add_ratio = [&](const std::string& title, RatioOf of) {
    columns.add({.title = title}, [=, &load_case](const Contestant& contestant) {
      return ratio_cell(load_case, contestant, of);
    });
  };
  const auto add_percentile = [&](const std::string& name) {
    columns.add({.title = name},
                [=](const Contestant& contestant) { return percentile_cell(contestant, name); });
  };
  columns.table.leading = 2;
  columns.add({.title = "place"}, [](const Contestant& contestant) { return place_text(contestant.place); });
  columns.add({.title = "contestant", .text = true},
              [&](const Contestant& contestant) { return name_cell(load_case, contestant); });
  columns.add({.title = load_case.unit() + std::string("s/s")}, throughput_cell);
  add_ratio(load_case.by_latency() ? "ratio of " + load_case.ranked_by : "ratio", RatioOf::ranking);
  if (files)
    add_figure("CPU us/file", "cost_us_per_message");
  else
    add_figure("server CPU us/message", "server_cpu_us_per_message");
  add_ratio("ratio of cost", RatioOf::cost);
  if (files) {
    add_figure("MB/s", "mb_per_s");
    add_figure("time of a command", "latency_ns.intervals.mean");
  } else {
    add_percentile("p50");
    add_percentile("p99");
  }
  add_figure("max", "latency_ns.max");
  for (const Contestant* contestant : load_case.rows()) columns.row(*contestant);
  return std::move(columns.table);
}

Table resources_of(const Case& load_case) {
  TableOf<Contestant> columns;
  columns.add({.title = "contestant", .text = true},
              [](const Contestant& contestant) { return contestant.name; });
  const auto add_sides = [&](const std::string& title, const std::string& server, const std::string& client) {
    columns.add({.title = title + ", server"},
                [=](const Contestant& contestant) { return cell_of(contestant, server); });
    columns.add({.title = title + ", client"},
                [=](const Contestant& contestant) { return cell_of(contestant, client); });
  };
  const std::string each = std::string("/") + load_case.unit();
  add_sides("memory", "peak_memory_bytes.server", "peak_memory_bytes.client");
  add_sides("system calls" + each, "system_calls_per_message.server", "system_calls_per_message.client");
  add_sides("context switches" + each, "switches_per_message.server", "switches_per_message.client");
  add_sides("CPU in use", "server_utilisation", "client_utilisation");
  for (const Contestant* contestant : load_case.rows())
    if (contestant->has_result()) columns.row(*contestant);
  return std::move(columns.table);
}

namespace {

// Returns the contestants of the matrix. A pair that occurs several times has its own name in the place of
// the server's, so that all of them are shown.
std::vector<Crossing> crossings_of(const Case& load_case) {
  std::vector<Crossing> all;
  for (std::size_t i = 0; i < load_case.contestants.size(); ++i) {
    const Contestant& contestant = load_case.contestants[i];
    if (contestant.kind != Kind::contestant || contestant.server_engine.empty() ||
        contestant.client_engine.empty())
      continue;
    const bool taken = std::ranges::any_of(all, [&](const Crossing& other) {
      return other.client == contestant.client_engine && other.server == contestant.server_engine;
    });
    all.push_back({contestant.client_engine, taken ? contestant.name : contestant.server_engine, i});
  }
  drop_lonely(all);
  return all;
}

std::string crossing_cell(const Contestant& contestant, const FigureRow& figure) {
  const std::string text = cell_of(contestant, figure.key);
  if (text == kNone) return text;
  if (!contestant.is_sound()) return fmt::format("({})", text);
  const bool is_rate = figure.unit == Unit::per_s;
  return (is_rate ? bound_mark(contestant.at_least, contestant.limit_unknown.value_or(false)) : "") + text;
}

}  // namespace

std::vector<TitledTable> matrices_of(const Case& load_case) {
  std::vector<TitledTable> tables;
  const std::vector<Crossing> all = load_case.point ? std::vector<Crossing>() : crossings_of(load_case);
  if (all.empty()) return tables;
  for (const FigureRow* figure : {&first_figure_of(load_case), &figure_row("server_cpu_us_per_message")}) {
    const std::string unit =
        figure->unit == Unit::per_s ? fmt::format("{}s/s", load_case.unit()) : unit_text(figure->unit);
    Table table = crossed(
        all, [&](std::size_t number) { return crossing_cell(load_case.contestants[number], *figure); });
    table.columns.front().text = true;
    tables.push_back({fmt::format("{}, {}", figure->name, unit), std::move(table)});
  }
  return tables;
}

std::string heading_of(const Case& load_case) {
  return load_case.title.empty() ? load_case.name : fmt::format("{}: {}", load_case.name, load_case.title);
}

std::vector<std::string> marks_in(std::span<const Table> tables) {
  const auto begins_with = [](const Table& table, std::string_view mark) {
    return std::ranges::any_of(table.rows, [&](const Table::Row& row) {
      for (std::size_t i = 0; i < row.cells.size(); ++i)
        if (!table.columns[i].text && row.cells[i].starts_with(mark)) return true;
      return false;
    });
  };
  constexpr std::pair<std::string_view, const char*> kMarks[] = {
      {"≥ ", "≥: a lower bound, as the load was the limit."},
      {"? ", "?: the load may have been the limit."},
      {"~", "~: fewer than 100 samples lie beyond it."}};
  std::vector<std::string> marks;
  for (const auto& [mark, meaning] : kMarks)
    if (std::ranges::any_of(tables, [&](const Table& table) { return begins_with(table, mark); }))
      marks.emplace_back(meaning);
  return marks;
}

namespace {

// The tables that users can ask for.
struct NamedTables {
  const char* name;
  std::vector<TitledTable> (*of)(const Case& load_case);
};
constexpr NamedTables kTables[] = {{"results",
                                    [](const Case& load_case) {
                                      return std::vector<TitledTable>{{"", results_of(load_case)}};
                                    }},
                                   {"resources",
                                    [](const Case& load_case) {
                                      return std::vector<TitledTable>{{"", resources_of(load_case)}};
                                    }},
                                   {"matrix", matrices_of}};

}  // namespace

std::vector<std::string> table_names() {
  std::vector<std::string> names;
  for (const NamedTables& each : kTables) names.emplace_back(each.name);
  return names;
}

std::string table_text(const Document& document, std::string_view name, const Terminal& terminal) {
  std::string text;
  const auto* const found = std::ranges::find(kTables, name, &NamedTables::name);
  if (found == std::end(kTables)) return text;
  for (const Case& load_case : document.cases)
    for (auto& [title, table] : found->of(load_case)) {
      if (table.empty()) continue;
      std::vector<std::string> headings;
      if (document.cases.size() > 1) headings.push_back(heading_of(load_case));
      if (!title.empty()) headings.push_back(title);
      table.notes = marks_in({&table, 1});
      if (!text.empty()) text += "\n";
      if (!headings.empty()) text += painted(join(headings, ", "), Paint::bold, terminal) + "\n";
      text += terminal_text(table, terminal);
    }
  return text;
}

std::string remedy_of(std::uint64_t check) {
  const auto found = std::ranges::find_if(
      race::checks(), [&](const race::Check& each) { return std::cmp_equal(each.id, check); });
  return found == race::checks().end() ? "" : std::string(found->remedy);
}

}  // namespace joust::report::page
