// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "race/model/result.hpp"

namespace joust::report {

// The version of the document, its key "schema".
inline constexpr const char* kRaceSchema = "joust-race/4";
// The version before. It has fewer decisions of pairs, and is read as well.
inline constexpr const char* kOldRaceSchema = "joust-race/3";

// Returns the document of a judged race, described by docs/result.schema.json, with a line end.
std::string race_json(const race::RaceResult& race);

}  // namespace joust::report
