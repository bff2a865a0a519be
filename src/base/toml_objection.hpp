// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace joust {

// Returns why a text must not be parsed as TOML: a line has so many dots that they may be those of one key
// (a.b.c), and the parser, which calls itself for each part of a key, would use up the stack. Empty if it may
// be.
std::string toml_objection(std::string_view text);

}  // namespace joust
