// SPDX-License-Identifier: MIT
#include "report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/printable.hpp"
#include "base/terminal.hpp"

namespace joust::report {
namespace {

std::string shown(std::string_view text) {
  return printable(text, "\n\\");
}

}  // namespace

Terminal terminal_of(int descriptor) {
  constexpr std::size_t kNarrowest = 41;
  Terminal terminal;
  terminal.colours = shows_colours(descriptor);
  if (const std::size_t columns = columns_of(descriptor, terminal.columns); columns >= kNarrowest)
    terminal.columns = std::min(columns, terminal.columns);
  return terminal;
}

std::string painted(std::string_view text, Paint paint, const Terminal& terminal) {
  if (!terminal.colours || paint == Paint::plain) return shown(text);
  constexpr const char* kCodes[] = {"0", "1", "2", "32", "33", "31"};
  return fmt::format("\x1b[{}m{}\x1b[0m", kCodes[static_cast<int>(paint)], shown(text));
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string left(std::string_view text, std::size_t width) {
  return std::string(text) + std::string(width - std::min(width, width_of(text)), ' ');
}

std::string right(std::string_view text, std::size_t width) {
  return std::string(width - std::min(width, width_of(text)), ' ') + std::string(text);
}

double part_of(std::uint64_t done, std::uint64_t all) {
  return all == 0 ? 0 : static_cast<double>(done) / static_cast<double>(all);
}

std::string progress_bar(double part, std::size_t width) {
  const auto filled = static_cast<std::size_t>(part * static_cast<double>(width));
  return fmt::format("[{:#<{}}{:.<{}}]", "", filled, "", width - filled);
}

std::string wrapped(std::string_view given, std::size_t indent, std::size_t columns) {
  const std::string text = shown(given);
  std::string out;
  std::size_t at = indent;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = std::string_view(text).substr(begin, end - begin);
    const std::size_t width = width_of(word);
    if (begin > 0 && at + 1 + width > columns) {
      out += fmt::format("\n{:{}}", "", indent);
      at = indent;
    } else if (begin > 0) {
      out += ' ';
      ++at;
    }
    out += word;
    at += width;
    begin = end + 1;
  }
  return out;
}

std::string short_number(double value) {
  const double size = std::abs(value);
  if (size >= 100) return fmt::format("{:.0f}", value);
  if (size >= 10) return fmt::format("{:.1f}", value);
  if (size >= 1) return fmt::format("{:.2f}", value);
  return size == 0 ? "0" : size < 0.0005 ? "<0.001" : fmt::format("{:.3f}", value);
}

std::string plain_number(double value) {
  return value < 1000 ? short_number(value) : grouped(static_cast<std::uint64_t>(std::llround(value)));
}

std::string or_none(const std::optional<double>& figure, std::string (*format)(double)) {
  return figure ? format(*figure) : kNone;
}

TextTable::TextTable(std::vector<Column> columns, std::size_t leading)
    : columns_(std::move(columns)), leading_(leading) {
  for (Column& column : columns_) {
    column.title = shown(column.title);
    column.group = shown(column.group);
  }
}

void TextTable::row(std::vector<std::string> cells, Paint paint) {
  cells.resize(columns_.size());
  for (std::string& cell : cells) cell = shown(cell);
  const std::size_t all = cells.size();
  rows_.push_back({.cells = std::move(cells), .paint = paint, .remark = {}, .remark_at = all});
}

void TextTable::remark(std::vector<std::string> cells, std::string text, Paint paint) {
  const std::size_t after = cells.size();
  row(std::move(cells), paint);
  rows_.back().remark = std::move(text);
  rows_.back().remark_at = after;
}

// Returns the place in the block of the last column in the same group as the column at `at`.
std::size_t TextTable::last_of_group(const Block& block, std::size_t at) const {
  const std::string& group = columns_[block[at]].group;
  while (!group.empty() && at + 1 < block.size() && columns_[block[at + 1]].group == group) ++at;
  return at;
}

// Returns the widths of all columns. A group is at least as wide as its name.
std::vector<std::size_t> TextTable::widths(const Block& all) const {
  std::vector<std::size_t> widths;
  for (const std::size_t i : all) {
    std::size_t width = width_of(columns_[i].title);
    for (const Row& row : rows_) width = std::max(width, width_of(row.cells[i]));
    widths.push_back(width);
  }
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t last = last_of_group(all, at);
    std::size_t span = widths[at];
    for (std::size_t i = at + 1; i <= last; ++i) span += columns_[i].gap + widths[i];
    widths[at] += std::max(span, width_of(columns_[at].group)) - span;
    at = last + 1;
  }
  return widths;
}

std::vector<TextTable::Block> TextTable::blocks(Block all, const std::vector<std::size_t>& widths,
                                                std::size_t most) const {
  const auto width_of_all = [&](auto begin, auto end) {
    return std::accumulate(begin, end, std::size_t{0},
                           [&](std::size_t sum, std::size_t i) { return sum + columns_[i].gap + widths[i]; });
  };
  if (width_of_all(all.begin(), all.end()) <= most) return {all};
  std::erase_if(all, [&](std::size_t i) { return columns_[i].decoration; });
  const Block lead(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(leading_, all.size())));
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
std::string TextTable::group_line(const Block& block, const std::vector<std::size_t>& widths) const {
  std::string line;
  for (std::size_t at = 0; at < block.size();) {
    const std::size_t last = last_of_group(block, at);
    const Column& first = columns_[block[at]];
    std::size_t span = widths[block[at]];
    for (std::size_t j = at + 1; j <= last; ++j) span += columns_[block[j]].gap + widths[block[j]];
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

namespace {

std::string without_trailing_blanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

// Renders a block. In blocks after the first, rows without a cell in the block are left out.
std::string TextTable::render(const Block& block, const std::vector<std::size_t>& widths, bool first,
                              const Terminal& terminal) const {
  const auto line_of = [&](const auto& cell_of, std::size_t cells) {
    std::string line;
    for (const std::size_t i : block) {
      if (i >= cells) break;
      line += std::string(columns_[i].gap, ' ');
      line += columns_[i].text ? left(cell_of(i), widths[i]) : right(cell_of(i), widths[i]);
    }
    return line;
  };
  std::string out;
  if (std::ranges::any_of(block, [&](std::size_t i) { return !columns_[i].group.empty(); }))
    out += painted(without_trailing_blanks(group_line(block, widths)), Paint::dim, terminal) + "\n";
  const std::string titles = line_of([&](std::size_t i) { return columns_[i].title; }, columns_.size());
  out += painted(without_trailing_blanks(titles), Paint::dim, terminal) + "\n";
  for (const Row& row : rows_) {
    const auto empty = [&](std::size_t i) { return i < leading_ || row.cells[i].empty(); };
    if (!first && std::ranges::all_of(block, empty)) continue;
    std::string line = line_of([&](std::size_t i) { return row.cells[i]; }, row.remark_at);
    if (!row.remark.empty()) line += "   " + wrapped(row.remark, width_of(line) + 3, terminal.columns);
    out += painted(without_trailing_blanks(std::move(line)), row.paint, terminal) + "\n";
  }
  return out;
}

std::string TextTable::render(const Terminal& terminal) const {
  Block all(columns_.size());
  std::iota(all.begin(), all.end(), 0);
  const std::vector<std::size_t> wide = widths(all);
  std::string out;
  for (const Block& block : blocks(all, wide, terminal.columns))
    out += std::string(out.empty() ? "" : "\n") + render(block, wide, out.empty(), terminal);
  return out;
}

}  // namespace joust::report
