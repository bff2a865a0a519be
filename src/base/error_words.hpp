// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <string>

namespace joust {

// Returns what an exception says, in words for people: the texts of the standard library and of the JSON
// library begin with names of their own ("std::bad_alloc", "filesystem error: ...", "[json.exception...]"),
// which say nothing to users. Other texts are returned as they are.
std::string words_of(const std::exception& error);

}  // namespace joust
