// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "race/model/result.hpp"

namespace joust::race {

// Returns the conclusion of a case in words: a sentence on each line.
std::string verdict_of(const RaceResult& race, const CaseResult& one);

// Returns the first sentence of a verdict that is about the contestants, and not about what disturbed them.
std::string answer_in(std::string_view verdict);

}  // namespace joust::race
