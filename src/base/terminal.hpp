// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// What the place behind a descriptor can show. All output of a program asks here.
namespace joust {

// Whether it is a terminal that obeys escape sequences. One without a TERM, or a dumb one, shows them.
bool obeys_escapes(int descriptor);

// The same, and colours are wanted: NO_COLOR is unset or empty.
bool shows_colours(int descriptor);

// Asked each time, because a window changes its size. `otherwise`: what is no terminal, or has no width.
std::size_t columns_of(int descriptor, std::size_t otherwise);

// Whether the user's locale has UTF-8, by the first of LC_ALL, LC_CTYPE and LANG that is not empty. Where
// none is, as in a container, nobody has said what the terminal is, and today's have UTF-8.
bool locale_has_utf8();

// The UTF-8 text as the locale can show it: without UTF-8 bars, dashes and signs have stand-ins of ASCII, as
// wide but for "+-", and the bytes of other characters become \xHH.
std::string in_locale(std::string_view text);

}  // namespace joust
