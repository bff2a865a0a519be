// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "load/search.hpp"

namespace joust {

// Returns the text for people: a table with a line for each try, and the answer.
std::string search_text(const SearchResult& result);

}  // namespace joust
