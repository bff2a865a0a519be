// SPDX-License-Identifier: MIT
#include "report/race_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "race/scenario/engine_choice.hpp"
#include "report/race_cells.hpp"

namespace joust::report {
namespace {

using race::Entry;

constexpr double kSeconds = 10;  // what published comparisons count over

struct Cell {
  std::string client{}, server{};
  const Entry* entry = nullptr;
};

std::string label(race::EngineChoice choice) {
  if (!choice.threads_given) choice.threads = 1;
  return race::describe(choice);
}

// A row or a column with one cell only belongs to a contestant beside the matrix.
bool drop_lonely(std::vector<Cell>& cells, std::string Cell::*side) {
  return std::erase_if(cells, [&, all = cells](const Cell& cell) {
           return std::ranges::count(all, cell.*side, side) < 2;
         }) > 0;
}

std::vector<Cell> cells_of(const race::CaseResult& one) {
  std::vector<Cell> cells;
  for (const Entry& entry : one.entries)
    if (entry.is_contestant() && !entry.contestant.external() && !entry.in_process)
      cells.push_back({label(entry.contestant.client), label(entry.contestant.server), &entry});
  while (drop_lonely(cells, &Cell::client) || drop_lonely(cells, &Cell::server)) {
  }
  return cells;
}

std::vector<std::string> names_of(const std::vector<Cell>& cells, std::string Cell::*side) {
  std::vector<std::string> names;
  for (const Cell& cell : cells)
    if (std::ranges::count(names, cell.*side) == 0) names.push_back(cell.*side);
  return names;
}

struct Figure {
  std::string title;
  std::function<std::optional<double>(const race::Summary&)> value;
  std::string (*text)(double);
  bool may_be_bound;  // where the load was the limit
};

std::string text_of(const Cell* cell, const Figure& figure) {
  const auto value = cell == nullptr ? std::nullopt : figure.value(cell->entry->summary);
  if (!value) return kNone;
  if (!cell->entry->ranked) return fmt::format("({})", figure.text(*value));
  return (figure.may_be_bound && cell->entry->at_least ? "≥ " : "") + figure.text(*value);
}

std::string table_of(const std::vector<Cell>& cells, const Figure& figure, const Terminal& terminal) {
  const std::vector<std::string> servers = names_of(cells, &Cell::server);
  std::vector<TextTable::Column> columns{{.title = "client \\ server", .gap = 2}};
  for (const std::string& server : servers) columns.push_back({.title = server, .gap = 3});
  TextTable table(std::move(columns), 1);
  for (const std::string& client : names_of(cells, &Cell::client)) {
    std::vector<std::string> texts{client};
    for (const std::string& server : servers) {
      const auto cell = std::ranges::find_if(
          cells, [&](const Cell& each) { return each.client == client && each.server == server; });
      texts.push_back(text_of(cell == cells.end() ? nullptr : &*cell, figure));
    }
    table.row(std::move(texts));
  }
  return painted(figure.title, Paint::bold, terminal) + "\n\n" + table.render(terminal) + "\n";
}

}  // namespace

std::string matrix_text(const race::CaseResult& one, const Terminal& terminal) {
  const std::vector<Cell> cells = cells_of(one);
  if (cells.empty()) return {};
  const Figure rate{fmt::format("{}: messages in {} s", one.plan.name, kSeconds),
                    [](const race::Summary& summary) {
                      const auto& per_s = summary.throughput_per_s;
                      return per_s ? std::optional(per_s->median * kSeconds) : std::nullopt;
                    },
                    format_count, true};
  const Figure latency{fmt::format("{}: p99 latency", one.plan.name),
                       [](const race::Summary& summary) {
                         const auto& p99 = summary.latency_by_round.p99;
                         return p99 ? std::optional(p99->median) : std::nullopt;
                       },
                       [](double ns) { return latency_text(ns); }, false};
  const Figure figures[] = {one.ranked_by_latency() ? latency : rate,
                            {fmt::format("{}: server CPU us/message", one.plan.name),
                             [](const race::Summary& summary) {
                               const auto& cost = summary.server_cpu_us_per_message;
                               return cost ? std::optional(cost->median) : summary.cpu_us_per_message.server;
                             },
                             plain_number, false}};
  std::string text = "\n";
  for (const Figure& figure : figures) text += table_of(cells, figure, terminal);
  if (std::ranges::any_of(cells, [](const Cell& cell) { return !cell.entry->ranked; }))
    text += painted("    in brackets: not ranked, see the case", Paint::dim, terminal) + "\n";
  return text;
}

}  // namespace joust::report
