// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "load/result.hpp"

namespace joust {

// Adds the result to the document of `joust load --json` (docs/result.schema.json), which has facts about the
// program too.
void add_load(nlohmann::ordered_json& document, const LoadResult& result);

// Adds an object for each group of figures that a service has.
void add_groups(nlohmann::ordered_json& document, const std::vector<ResultGroup>& groups);

// Reads the result from such a document: the inverse of add_load(). The texts of groups (ResultGroup::about)
// and LoadPlan::counted_turns are not in a document. Keys that describe the program are skipped. The error
// names the key that is missing or wrong.
std::expected<LoadResult, std::string> load_from(const nlohmann::ordered_json& document);

}  // namespace joust
