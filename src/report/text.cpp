// SPDX-License-Identifier: MIT
#include "report/text.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

namespace joust::report {

Terminal terminal_of(int descriptor) {
  Terminal terminal;
  const char* no_colour = std::getenv("NO_COLOR");
  if (::isatty(descriptor) == 0) return terminal;
  terminal.colours = no_colour == nullptr || *no_colour == '\0';
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 40)
    terminal.columns = std::min<std::size_t>(size.ws_col, terminal.columns);
  return terminal;
}

std::string painted(std::string_view text, Paint paint, const Terminal& terminal) {
  if (!terminal.colours || paint == Paint::plain) return std::string(text);
  constexpr const char* kCodes[] = {"0", "1", "2", "32", "33", "31"};
  return fmt::format("\x1b[{}m{}\x1b[0m", kCodes[static_cast<int>(paint)], text);
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

std::string wrapped(std::string_view text, std::size_t indent, std::size_t columns) {
  std::string out;
  std::size_t at = indent;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
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

void TextTable::row(std::vector<std::string> cells, Paint paint) {
  cells.resize(columns_.size());
  const std::size_t all = cells.size();
  rows_.push_back({.cells = std::move(cells), .paint = paint, .remark = {}, .remark_at = all});
}

void TextTable::remark(std::vector<std::string> cells, std::string text, Paint paint) {
  const std::size_t after = cells.size();
  row(std::move(cells), paint);
  rows_.back().remark = std::move(text);
  rows_.back().remark_at = after;
}

std::vector<std::size_t> TextTable::widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = width_of(columns_[i].title);
    for (const Row& row : rows_) width = std::max(width, width_of(row.cells[i]));
    widths.push_back(width);
  }
  return widths;
}

// Each group's name centred over its columns, with a line to both sides where there is room.
std::string TextTable::group_line(const std::vector<std::size_t>& widths) const {
  std::string line;
  for (std::size_t i = 0; i < columns_.size();) {
    std::size_t last = i;
    while (last + 1 < columns_.size() && !columns_[i].group.empty() &&
           columns_[last + 1].group == columns_[i].group)
      ++last;
    std::size_t span = widths[i];
    for (std::size_t j = i + 1; j <= last; ++j) span += columns_[j].gap + widths[j];
    const std::string& name = columns_[i].group;
    line += std::string(columns_[i].gap, ' ');
    if (name.empty() || width_of(name) >= span) {
      line += left(name, span);
    } else {
      const std::size_t rest = span - width_of(name) - std::min<std::size_t>(2, span - width_of(name));
      for (std::size_t j = 0; j < rest / 2; ++j) line += "─";
      line += fmt::format(" {}{}", name, span > width_of(name) + 1 ? " " : "");
      for (std::size_t j = rest / 2; j < rest; ++j) line += "─";
    }
    i = last + 1;
  }
  return line;
}

namespace {

std::string without_trailing_blanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

std::string TextTable::render(const Terminal& terminal) const {
  const std::vector<std::size_t> wide = widths();
  const auto line_of = [&](const auto& cell_of, std::size_t cells) {
    std::string line;
    for (std::size_t i = 0; i < cells; ++i) {
      line += std::string(columns_[i].gap, ' ');
      line += columns_[i].text ? left(cell_of(i), wide[i]) : right(cell_of(i), wide[i]);
    }
    return line;
  };
  std::string out;
  if (std::ranges::any_of(columns_, [](const Column& column) { return !column.group.empty(); }))
    out += painted(without_trailing_blanks(group_line(wide)), Paint::dim, terminal) + "\n";
  const std::string titles = line_of([&](std::size_t i) { return columns_[i].title; }, columns_.size());
  out += painted(without_trailing_blanks(titles), Paint::dim, terminal) + "\n";
  for (const Row& row : rows_) {
    std::string line = line_of([&](std::size_t i) { return row.cells[i]; }, row.remark_at);
    if (!row.remark.empty()) line += "   " + wrapped(row.remark, width_of(line) + 3, terminal.columns);
    out += painted(without_trailing_blanks(std::move(line)), row.paint, terminal) + "\n";
  }
  return out;
}

}  // namespace joust::report
