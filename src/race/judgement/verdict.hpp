// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "race/model/result.hpp"

namespace joust::race {

// Returns the conclusion of a case in words.
std::string verdict_of(const RaceResult& race, const CaseResult& one);

}  // namespace joust::race
