// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace joust {

// Returns why a text must not be parsed as TOML: a line has so many dots that they may be those of one key
// (a.b.c), and the parser, which calls itself for each part of a key, would use up the stack. Empty if it may
// be.
std::string toml_objection(std::string_view text);

// Returns what the parser says of an error at this line and column of the text, from 1 on, in words for
// people: the parser calls a quote that is missing at the end of a line a control character.
std::string toml_error(std::string_view text, std::size_t line, std::size_t column, std::string_view words);

}  // namespace joust
