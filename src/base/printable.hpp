// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// UTF-8 text in a form that is safe to show on a terminal.
namespace joust {

// Returns true if a terminal would obey a part of this UTF-8 text: C0, DEL or C1.
bool has_control(std::string_view text);
// Returns the length of the UTF-8 sequence at the beginning of the text, or 0 if it is invalid: stray,
// overlong or truncated, a surrogate, or beyond U+10FFFF (Unicode 15, table 3-7). The text is not empty.
std::size_t utf8_sequence(std::string_view text);
// Returns untrusted text in a safe form for a terminal. The bytes of control characters, of characters that
// change the direction of writing, and bytes that are not UTF-8 become \xHH. A backslash becomes two, so that
// no two texts look alike. Characters in `kept` stay.
std::string printable(std::string_view text, std::string_view kept = {});

}  // namespace joust
