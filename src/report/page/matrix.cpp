// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "race/checks/checks.hpp"
#include "report/page/faces.hpp"
#include "report/page/tables.hpp"
#include "report/row_order.hpp"

namespace joust::report::page {
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
  const Measured* const value = contestant.figure(figure.key);
  if (value == nullptr) return kNone;
  const std::string text = figure_text(value->value, figure.unit);
  if (!contestant.is_sound()) return fmt::format("({})", text);
  return (figure.unit == Unit::per_s
              ? bound_mark(contestant.at_least, contestant.limit_unknown.value_or(false))
              : "") +
         text;
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
  const race::Check* const found = race::find_check(check);
  return found == nullptr ? "" : std::string(found->remedy);
}

}  // namespace joust::report::page
