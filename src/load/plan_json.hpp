// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "joust/load_plan.hpp"

namespace joust {

// Returns the settings of a load in the form of the documents and of `load --plan`: times in seconds, null
// for a setting without a value.
nlohmann::ordered_json plan_json(const LoadPlan& plan);

// Returns the same for `load --plan`, with the place of the connections in a load of several hosts ("part").
nlohmann::ordered_json passed_plan_json(const LoadPlan& plan);

// Reads such settings, or the document of a result, which has them as "plan". A setting that is left out
// keeps its default. The error names the setting, or two that exclude each other.
std::expected<LoadPlan, std::string> plan_from(const std::string& document);

}  // namespace joust
