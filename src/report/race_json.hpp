// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "race/result.hpp"

namespace joust::report {

// A judged race as docs/result.schema.json describes it, with a line end.
std::string race_json(const race::RaceResult& race);

}  // namespace joust::report
