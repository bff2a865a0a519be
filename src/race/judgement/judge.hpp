// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "race/model/result.hpp"

namespace joust::race {

// Computes summaries, ratios, checks, tie groups and verdicts from the recorded trials. Pure; the
// permutation tests of check 5 use the race's seed.
void judge(RaceResult& result);

// Returns why nothing should be concluded from a race, or less than was asked for: a check refuses it, or no
// contestant of a case is sound. Unless the scenario allows them, two more reasons count: a contestant is not
// ranked, or the race distinguishes no contestants. Empty if there is no reason.
std::string invalid_because(const RaceResult& race);

// The program's exit code: 0, 1 (incomplete, or no contestant can run here), 99 for a contestant beyond a
// threshold, or one of which that is not decided, where the scenario says so; otherwise 3
// (invalid_because()).
int exit_code(const RaceResult& result);
std::string exit_reason(const RaceResult& result);  // empty if it is 0

}  // namespace joust::race
