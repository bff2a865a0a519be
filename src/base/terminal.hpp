// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// Functions that report the abilities of a descriptor's terminal. All output of a program uses them.
namespace joust {

// Returns whether it is a terminal that obeys escape sequences. A terminal without a TERM, or a dumb one,
// shows them as text.
bool obeys_escapes(int descriptor);

// Returns whether it obeys escape sequences, and colours are wanted: NO_COLOR is unset or empty.
bool shows_colours(int descriptor);

// Returns the width. Read again in each call, because a window changes its size. `otherwise`: the width where
// the descriptor is no terminal, or has no width.
std::size_t columns_of(int descriptor, std::size_t otherwise);

// Returns whether the user's locale has UTF-8, by the first of LC_ALL, LC_CTYPE and LANG that is not empty.
// True if all are empty, as in a container: then the terminal is unknown, and present ones have UTF-8.
bool locale_has_utf8();

// Returns the UTF-8 text in a form that the locale can show. Without UTF-8, bars, dashes and signs are
// replaced by ASCII of the same width (except "+-"), and the bytes of other characters become \xHH.
std::string in_locale(std::string_view text);

// Writes to standard error, in a form that the locale can show. A closed pipe is no reason to end, so errors
// are ignored.
void print_to_stderr(const std::string& text) noexcept;

// Writes a line to standard error in place of the last one, without its end. The terminal obeys escape
// sequences. The line is narrower than it: one that wraps could not be replaced.
void redraw_line_of_stderr(const std::string& line);

}  // namespace joust
