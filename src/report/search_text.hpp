// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "load/search.hpp"

namespace joust {

// For people: a table with a line for each try, and the answer.
std::string search_text(const SearchResult& result);

// A rate with three digits at least: "0.153", "41,200".
std::string rate_text(double rate_per_s);

}  // namespace joust
