// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "load/search.hpp"

namespace joust {

// Adds the criterion, all steps with their loads, and the rates found.
void add_search(nlohmann::ordered_json& document, const SearchResult& result);

}  // namespace joust
