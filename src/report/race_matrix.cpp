// SPDX-License-Identifier: MIT
#include "report/race_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "race/scenario/engine_choice.hpp"
#include "report/compared_figure.hpp"

namespace joust::report {
namespace {

using race::Entry;

constexpr double kSeconds = 10;  // the time over which published comparisons count

std::optional<double> messages_in_all(const Entry& entry) {
  const auto per_s = median(entry.summary.throughput_per_s);
  return per_s ? std::optional(*per_s * kSeconds) : std::nullopt;
}

struct Cell {
  std::string client{}, server{};
  const Entry* entry = nullptr;
};

std::string label(EngineChoice choice) {
  if (!choice.threads_given) choice.threads = 1;
  return race::describe(choice);
}

// Removes rows and columns with one cell only: it belongs to a contestant beside the matrix.
bool drop_lonely(std::vector<Cell>& cells, std::string Cell::*side) {
  return std::erase_if(cells, [&, all = cells](const Cell& cell) {
           return std::ranges::count(all, cell.*side, side) < 2;
         }) > 0;
}

// Returns the cell of an entry. A pair that occurs several times has a column of its own each time; otherwise
// only one would be shown.
Cell cell_of(const Entry& entry, const std::vector<Cell>& others) {
  const Cell cell{label(entry.contestant.client), label(entry.contestant.server), &entry};
  std::vector<std::string> taken;
  for (const Cell& other : others)
    if (other.client == cell.client) taken.push_back(other.server);
  return {cell.client, race::free_name(cell.server, taken), &entry};
}

std::vector<Cell> cells_of(const race::CaseResult& one) {
  std::vector<Cell> cells;
  for (const Entry& entry : one.entries)
    if (entry.is_contestant() && !entry.contestant.external() && !entry.in_process)
      cells.push_back(cell_of(entry, cells));
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

std::string table_of(const std::string& of, const std::vector<Cell>& cells, const ComparedFigure& figure,
                     const Terminal& terminal) {
  const std::vector<std::string> servers = names_of(cells, &Cell::server);
  std::vector<TextTable::Column> columns{{.title = "client \\ server", .gap = 2}};
  for (const std::string& server : servers) columns.push_back({.title = server, .gap = 3});
  TextTable table(std::move(columns), 1);
  for (const std::string& client : names_of(cells, &Cell::client)) {
    std::vector<std::string> texts{client};
    for (const std::string& server : servers) {
      const auto cell = std::ranges::find_if(
          cells, [&](const Cell& each) { return each.client == client && each.server == server; });
      texts.push_back(cell_text(cell == cells.end() ? nullptr : cell->entry, figure));
    }
    table.row(std::move(texts));
  }
  return painted(of + ": " + figure.title, Paint::bold, terminal) + "\n\n" + table.render(terminal) + "\n";
}

}  // namespace

std::string matrix_text(const race::CaseResult& one, const Terminal& terminal) {
  if (one.plan.point) return {};
  const std::vector<Cell> cells = cells_of(one);
  if (cells.empty()) return {};
  const ComparedFigure rate{fmt::format("messages per {} s", kSeconds), messages_in_all, format_count, true};
  const ComparedFigure* const figures[] = {one.ranked_by_latency() ? &p99_figure() : &rate,
                                           &compared_cost(one)};
  std::string text = "\n";
  for (const ComparedFigure* figure : figures) text += table_of(one.plan.name, cells, *figure, terminal);
  if (std::ranges::any_of(cells, [](const Cell& cell) { return in_brackets(*cell.entry); }))
    text += brackets_text("the case", terminal);
  return text;
}

}  // namespace joust::report
