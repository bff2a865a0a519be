// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/units.hpp"

// Text for terminals: colours, columns, wrapping. Widths count UTF-8 code points, one column each. Control
// characters in text that is painted, wrapped or put into a table become \xHH (printable()): a scenario from
// another author, or a server's output, cannot move the cursor. So every escape in a report comes from
// painted().
namespace joust::report {

struct Terminal {
  bool colours = false;
  std::size_t columns = 120;
};

// Returns what the descriptor can show (base/terminal.hpp), in up to 120 columns.
Terminal terminal_of(int descriptor);

enum class Paint { plain, bold, dim, green, yellow, red };
std::string painted(std::string_view text, Paint paint, const Terminal& terminal);

std::size_t width_of(std::string_view text);
std::string left(std::string_view text, std::size_t width);   // padded on the right
std::string right(std::string_view text, std::size_t width);  // padded on the left

// Returns the part of a whole, from 0 to 1; 0 of nothing.
double part_of(std::uint64_t done, std::uint64_t all);
// "[####......]": so much of the width is filled. `part` is from 0 to 1.
std::string progress_bar(double part, std::size_t width);

// Breaks the text at blanks so that no line is wider than `columns`, unless a word is. Lines after the first
// begin with `indent` blanks. The first is assumed to have them before it already.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t columns);

// Formats figures per message with at least three significant digits: "0.153", "8.53", "42.1", "1234".
std::string short_number(double value);
// Formats like short_number(), with separated thousands: "0.153", "41,200".
std::string plain_number(double value);

using joust::grouped;

// Stands for a figure that is not known.
inline constexpr const char* kNone = "–";

// Formats a figure that may not be known: "4.83 ms", "–".
std::string or_none(const std::optional<double>& figure, std::string (*format)(double));

}  // namespace joust::report
