// SPDX-License-Identifier: MIT
#include "report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/text.hpp"

namespace joust::report {
namespace {

using Block = std::vector<std::size_t>;   // columns, by their place
using Widths = std::vector<std::size_t>;  // of all columns

std::string without_trailing_blanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

class TerminalTable {
 public:
  TerminalTable(Table table, const Terminal& terminal);
  std::string text() const;

 private:
  Widths widths(const Block& all) const;
  std::size_t last_of_group(const Block& block, std::size_t at) const;
  std::vector<Block> blocks(Block all, const Widths& widths, std::size_t most) const;
  std::string group_line(const Block& block, const Widths& widths) const;
  std::string render(const Block& block, const Widths& widths, bool first) const;

  Table table_;
  const Terminal& terminal_;
};

TerminalTable::TerminalTable(Table table, const Terminal& terminal)
    : table_(std::move(table)), terminal_(terminal) {
  const auto make_printable = [](std::string& text) { text = printable(text, "\n\\"); };
  for (Table::Column& column : table_.columns) {
    make_printable(column.title);
    make_printable(column.group);
  }
  for (Table::Row& row : table_.rows) std::ranges::for_each(row.cells, make_printable);
}

// Returns the place in the block of the last column in the same group as the column at `at`.
std::size_t TerminalTable::last_of_group(const Block& block, std::size_t at) const {
  const std::string& group = table_.columns[block[at]].group;
  while (!group.empty() && at + 1 < block.size() && table_.columns[block[at + 1]].group == group) ++at;
  return at;
}

// Returns the widths of all columns. A group is at least as wide as its name.
Widths TerminalTable::widths(const Block& all) const {
  Widths widths;
  for (const std::size_t i : all) {
    std::size_t width = width_of(table_.columns[i].title);
    for (const Table::Row& row : table_.rows)
      if (i < row.cells.size()) width = std::max(width, width_of(row.cells[i]));
    widths.push_back(width);
  }
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t last = last_of_group(all, at);
    std::size_t span = widths[at];
    for (std::size_t i = at + 1; i <= last; ++i) span += table_.columns[i].gap + widths[i];
    widths[at] += std::max(span, width_of(table_.columns[at].group)) - span;
    at = last + 1;
  }
  return widths;
}

std::vector<Block> TerminalTable::blocks(Block all, const Widths& widths, std::size_t most) const {
  const auto width_of_all = [&](auto begin, auto end) {
    return std::accumulate(begin, end, std::size_t{0}, [&](std::size_t sum, std::size_t i) {
      return sum + table_.columns[i].gap + widths[i];
    });
  };
  if (width_of_all(all.begin(), all.end()) <= most) return {all};
  std::erase_if(all, [&](std::size_t i) { return table_.columns[i].decoration; });
  const Block lead(all.begin(),
                   all.begin() + static_cast<std::ptrdiff_t>(std::min(table_.leading, all.size())));
  std::vector<Block> blocks{lead};
  for (std::size_t at = lead.size(); at < all.size();) {
    const std::size_t end = last_of_group(all, at) + 1;
    const Block group(all.begin() + static_cast<std::ptrdiff_t>(at),
                      all.begin() + static_cast<std::ptrdiff_t>(end));
    const std::size_t wide =
        width_of_all(blocks.back().begin(), blocks.back().end()) + width_of_all(group.begin(), group.end());
    if (wide > most && blocks.back().size() > lead.size()) blocks.push_back(lead);
    blocks.back().insert(blocks.back().end(), group.begin(), group.end());
    at = end;
  }
  return blocks;
}

// Writes each group's name centred over its columns, with a line on both sides if the width allows it.
std::string TerminalTable::group_line(const Block& block, const Widths& widths) const {
  std::string line;
  for (std::size_t at = 0; at < block.size();) {
    const std::size_t last = last_of_group(block, at);
    const Table::Column& first = table_.columns[block[at]];
    std::size_t span = widths[block[at]];
    for (std::size_t j = at + 1; j <= last; ++j) span += table_.columns[block[j]].gap + widths[block[j]];
    const std::string& name = first.group;
    line += std::string(first.gap, ' ');
    // A line on one side only would look like a part of the name.
    if (name.empty() || width_of(name) >= span || width_of(name) + 3 == span) {
      line += left(name, span);
    } else {
      const std::size_t rest = span - width_of(name) - std::min<std::size_t>(2, span - width_of(name));
      for (std::size_t j = 0; j < rest / 2; ++j) line += "─";
      line += fmt::format(" {}{}", name, span > width_of(name) + 1 ? " " : "");
      for (std::size_t j = rest / 2; j < rest; ++j) line += "─";
    }
    at = last + 1;
  }
  return line;
}

// Renders a block. In blocks after the first, rows without a cell in the block are left out.
std::string TerminalTable::render(const Block& block, const Widths& widths, bool first) const {
  const auto line_of = [&](const auto& cell_of, std::size_t cells) {
    std::string line;
    for (const std::size_t i : block) {
      if (i >= cells) break;
      line += std::string(table_.columns[i].gap, ' ');
      line += table_.columns[i].text ? left(cell_of(i), widths[i]) : right(cell_of(i), widths[i]);
    }
    return line;
  };
  std::string out;
  if (std::ranges::any_of(block, [&](std::size_t i) { return !table_.columns[i].group.empty(); }))
    out += painted(without_trailing_blanks(group_line(block, widths)), Paint::dim, terminal_) + "\n";
  const std::string titles =
      line_of([&](std::size_t i) { return table_.columns[i].title; }, table_.columns.size());
  out += painted(without_trailing_blanks(titles), Paint::dim, terminal_) + "\n";
  for (const Table::Row& row : table_.rows) {
    const auto empty = [&](std::size_t i) {
      return i < table_.leading || i >= row.cells.size() || row.cells[i].empty();
    };
    if (!first && std::ranges::all_of(block, empty)) continue;
    std::string line = line_of([&](std::size_t i) { return row.cells[i]; }, row.cells.size());
    if (!row.remark.empty()) line += "   " + wrapped(row.remark, width_of(line) + 3, terminal_.columns);
    out += painted(without_trailing_blanks(std::move(line)), row.paint, terminal_) + "\n";
  }
  return out;
}

std::string TerminalTable::text() const {
  Block all(table_.columns.size());
  std::iota(all.begin(), all.end(), 0);
  const Widths wide = widths(all);
  std::string out;
  for (const Block& block : blocks(all, wide, terminal_.columns))
    out += std::string(out.empty() ? "" : "\n") + render(block, wide, out.empty());
  for (const std::string& note : table_.notes)
    out += painted(wrapped("    " + note, 4, terminal_.columns), Paint::dim, terminal_) + "\n";
  return out;
}

}  // namespace

std::string terminal_text(const Table& table, const Terminal& terminal) {
  return TerminalTable(table, terminal).text();
}

Table crossed(const std::string& corner, const std::vector<std::string>& down,
              const std::vector<std::string>& across,
              const std::function<std::string(std::size_t row, std::size_t column)>& cell) {
  Table table{.columns = {{.title = corner}}};
  for (const std::string& title : across) table.columns.push_back({.title = title, .gap = 3});
  for (std::size_t row = 0; row < down.size(); ++row) {
    std::vector<std::string>& cells = table.rows.emplace_back().cells;
    cells.push_back(down[row]);
    for (std::size_t column = 0; column < across.size(); ++column) cells.push_back(cell(row, column));
  }
  return table;
}

void drop_lonely(std::vector<Crossing>& all) {
  const auto drop = [&](std::string Crossing::*side) {
    return std::erase_if(all, [&, before = all](const Crossing& one) {
             return std::ranges::count(before, one.*side, side) < 2;
           }) > 0;
  };
  while (drop(&Crossing::client) || drop(&Crossing::server)) {
  }
}

Table crossed(const std::vector<Crossing>& all, const std::function<std::string(std::size_t number)>& cell) {
  if (all.empty()) return {};
  const auto names_of = [&](std::string Crossing::*side) {
    std::vector<std::string> names;
    for (const Crossing& one : all)
      if (std::ranges::count(names, one.*side) == 0) names.push_back(one.*side);
    return names;
  };
  const std::vector<std::string> clients = names_of(&Crossing::client), servers = names_of(&Crossing::server);
  return crossed("client \\ server", clients, servers, [&](std::size_t row, std::size_t column) {
    const auto found = std::ranges::find_if(all, [&](const Crossing& one) {
      return one.client == clients[row] && one.server == servers[column];
    });
    return found == all.end() ? kNone : cell(found->number);
  });
}

}  // namespace joust::report
