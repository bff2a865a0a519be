// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "race/model/result.hpp"

namespace joust::race {

// Returns the conclusion of a case in words.
std::string verdict_of(const RaceResult& race, const CaseResult& one);

// Says how much more is to be measured where a decision needs so many times the rounds: "about 20.0 s more
// would decide (--time)", or a number of rounds where the race has one or has ended early. Empty if it is
// more than sixty times.
std::string what_would_decide(double times, const RaceResult& race, const CaseResult& one);

}  // namespace joust::race
