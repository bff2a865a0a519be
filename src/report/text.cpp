// SPDX-License-Identifier: MIT
#include "report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/terminal.hpp"
#include "base/text.hpp"

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

}  // namespace joust::report
