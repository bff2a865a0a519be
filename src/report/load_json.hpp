// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include "load/result.hpp"

namespace joust {

// Adds the results of a load. A percentile with fewer than ten messages beyond it is null.
void add_load(nlohmann::ordered_json& document, const LoadResult& result);

}  // namespace joust
