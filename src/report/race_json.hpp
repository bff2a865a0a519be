// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "race/model/result.hpp"
#include "report/race_document.hpp"

namespace joust::report {

// Returns the document of a judged race.
document::Race document_of(const race::RaceResult& race);

// Return the document as JSON, with a line end.
std::string race_json(const document::Race& race);
std::string race_json(const race::RaceResult& race);

}  // namespace joust::report
