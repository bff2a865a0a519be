// SPDX-License-Identifier: MIT
#include "report/page/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.hpp"
#include "report/page/faces.hpp"
#include "report/page/ratios.hpp"
#include "report/row_order.hpp"

namespace joust::report::page {
namespace {

std::string place_words(const std::optional<Place>& place) {
  if (!place) return kNone;
  return place->first == place->last ? fmt::format("{}", place->first)
                                     : fmt::format("{}-{}", place->first, place->last);
}

std::string cell_of(const Runner& runner, std::string_view key) {
  const Measured* const figure = runner.figure(key);
  return figure == nullptr ? kNone : figure_text(figure->value, figure_row(key).unit);
}

// Marks a percentile that few samples lie beyond.
std::string percentile_cell(const Runner& runner, const std::string& percentile) {
  const Measured* const figure = runner.percentile(percentile);
  const std::string text = figure == nullptr ? kNone : figure_text(figure->value, Unit::ns);
  return (text != kNone && runner.few_beyond.contains(percentile) ? "~" : "") + text;
}

std::string ratio_cell(const Heat& heat, const Runner& runner, RatioOf of) {
  const Measured* const ratio = ratio_of(heat, runner, of);
  if (ratio == nullptr) return kNone;
  if (runner.name == heat.reference) return "1";
  return is_of_two_bounds(heat, runner, of) ? kNone : ratio_text(heat, runner, of);
}

std::string throughput_cell(const Runner& runner) {
  const std::string mark = runner.has_result() ? bound_mark(runner.at_least, runner.limit_unknown) : "";
  return mark + cell_of(runner, "throughput_per_s");
}

std::string name_cell(const Heat& heat, const Runner& runner) {
  if (!runner.has_result()) return fmt::format("{} (no result: {})", runner.name, runner.reason);
  if (!runner.ranked && !runner.at_least)
    return fmt::format("{} (not ranked: {})", runner.name, runner.reason);
  return runner.name == heat.reference ? runner.name + " (reference)" : runner.name;
}

}  // namespace

const FigureRow& first_figure_of(const Heat& heat) {
  if (heat.by_latency()) return figure_row("latency_ns." + heat.ranked_by);
  return figure_row(heat.moves_files ? "mb_per_s" : "throughput_per_s");
}

Table results_of(const Heat& heat) {
  const bool files = heat.moves_files;
  TableOf<Runner> columns;
  const auto add_figure = [&](const char* title, const char* key) {
    columns.add({.title = title}, [=](const Runner& runner) { return cell_of(runner, key); });
  };
  const auto add_ratio = [&](const std::string& title, RatioOf of) {
    columns.add({.title = title}, [=, &heat](const Runner& runner) { return ratio_cell(heat, runner, of); });
  };
  const auto add_percentile = [&](const std::string& name) {
    columns.add({.title = name}, [=](const Runner& runner) { return percentile_cell(runner, name); });
  };
  columns.table.leading = 2;
  columns.add({.title = "place"}, [](const Runner& runner) { return place_words(runner.place); });
  columns.add({.title = "contestant", .text = true},
              [&](const Runner& runner) { return name_cell(heat, runner); });
  columns.add({.title = heat.unit() + std::string("s/s")}, throughput_cell);
  add_ratio(heat.by_latency() ? "ratio of " + heat.ranked_by : "ratio", RatioOf::ranking);
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
  for (const Runner* runner : heat.contestants()) columns.row(*runner);
  return std::move(columns.table);
}

Table resources_of(const Heat& heat) {
  TableOf<Runner> columns;
  columns.add({.title = "contestant", .text = true}, [](const Runner& runner) { return runner.name; });
  const auto add_sides = [&](const std::string& title, const std::string& server, const std::string& client) {
    columns.add({.title = title + ", server"}, [=](const Runner& runner) { return cell_of(runner, server); });
    columns.add({.title = title + ", client"}, [=](const Runner& runner) { return cell_of(runner, client); });
  };
  const std::string each = std::string("/") + heat.unit();
  add_sides("memory", "peak_memory_bytes.server", "peak_memory_bytes.client");
  add_sides("system calls" + each, "system_calls_per_message.server", "system_calls_per_message.client");
  add_sides("context switches" + each, "switches_per_message.server", "switches_per_message.client");
  add_sides("CPU in use", "server_utilisation", "client_utilisation");
  for (const Runner* runner : heat.contestants())
    if (runner->has_result()) columns.row(*runner);
  return std::move(columns.table);
}

namespace {

// Returns the contestants of the matrix. A pair that occurs several times has its own name in the place of
// the server's, so that all of them are shown.
std::vector<Crossing> crossings_of(const Heat& heat) {
  std::vector<Crossing> all;
  for (std::size_t i = 0; i < heat.runners.size(); ++i) {
    const Runner& runner = heat.runners[i];
    if (runner.kind != Kind::contestant || runner.server.empty() || runner.client.empty()) continue;
    const bool taken = std::ranges::any_of(all, [&](const Crossing& other) {
      return other.client == runner.client && other.server == runner.server;
    });
    all.push_back({runner.client, taken ? runner.name : runner.server, i});
  }
  drop_lonely(all);
  return all;
}

std::string crossing_cell(const Runner& runner, const FigureRow& figure) {
  const std::string text = cell_of(runner, figure.key);
  if (text == kNone) return text;
  if (!runner.is_sound()) return fmt::format("({})", text);
  const bool is_rate = figure.unit == Unit::per_s;
  return (is_rate ? bound_mark(runner.at_least, runner.limit_unknown) : "") + text;
}

}  // namespace

std::vector<TitledTable> matrices_of(const Heat& heat) {
  std::vector<TitledTable> tables;
  const std::vector<Crossing> all = heat.point ? std::vector<Crossing>() : crossings_of(heat);
  if (all.empty()) return tables;
  for (const FigureRow* figure : {&first_figure_of(heat), &figure_row("server_cpu_us_per_message")}) {
    const std::string unit =
        figure->unit == Unit::per_s ? fmt::format("{}s/s", heat.unit()) : unit_text(figure->unit);
    Table table =
        crossed(all, [&](std::size_t number) { return crossing_cell(heat.runners[number], *figure); });
    table.columns.front().text = true;
    tables.push_back({fmt::format("{}, {}", figure->name, unit), std::move(table)});
  }
  return tables;
}

std::string heading_of(const Heat& heat) {
  return heat.title.empty() ? heat.name : fmt::format("{}: {}", heat.name, heat.title);
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
  std::vector<TitledTable> (*of)(const Heat& heat);
};
constexpr NamedTables kTables[] = {{"results",
                                    [](const Heat& heat) {
                                      return std::vector<TitledTable>{{"", results_of(heat)}};
                                    }},
                                   {"resources",
                                    [](const Heat& heat) {
                                      return std::vector<TitledTable>{{"", resources_of(heat)}};
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
  for (const Heat& heat : document.heats)
    for (auto& [title, table] : found->of(heat)) {
      if (table.empty()) continue;
      std::vector<std::string> headings;
      if (document.heats.size() > 1) headings.push_back(heading_of(heat));
      if (!title.empty()) headings.push_back(title);
      table.notes = marks_in({&table, 1});
      if (!text.empty()) text += "\n";
      if (!headings.empty()) text += painted(join(headings, ", "), Paint::bold, terminal) + "\n";
      text += terminal_text(table, terminal);
    }
  return text;
}

std::string remedy_of(std::uint64_t check) {
  static const std::map<std::uint64_t, const char*> kRemedies{
      {1,
       "Give the client more CPUs or threads (--client-cpus, --client-threads), or the server more work, so "
       "that the server is the limit."},
      {2, "Ask for a lower rate (-R, --rates), or give the load more CPUs."},
      {3,
       "Look at the errors and the last words of the contestant, which gave wrong replies, or none; where "
       "nothing "
       "says what a right reply is, say it (--expect)."},
      {4, "Race longer (--time), on a quieter machine."},
      {5, "Race again with more rounds (--time), and look for what runs beside the race."},
      {6, "Give a longer warm-up (-w), or race longer (--time)."},
      {7, "End other programs, or race on CPUs that nothing else uses (--server-cpus, --client-cpus)."},
      {8, "Race longer (--time), or ask for more --rounds."},
      {9, "Race longer (--time): four times the time halves the smallest difference that can be told."},
      {10, "Build all contestants with optimization, and give all of them the same socket options and CPUs."},
      {11, "Compare only results of this machine as it is, or change what the text names."},
      {12, "End the programs that use the CPUs of the race, and look at the counts that differ."},
      {13, "Ask for a lower rate or fewer connections: messages were lost."},
      {14,
       "Race longer (--time), or look at the turns that the text names: a contestant may stall in them."}};
  const auto found = kRemedies.find(check);
  return found == kRemedies.end() ? "" : found->second;
}

}  // namespace joust::report::page
