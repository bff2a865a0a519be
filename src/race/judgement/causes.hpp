// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "race/model/result.hpp"

namespace joust::race {

// Returns what limits the answer of a case: one sentence and one remedy for all the checks with the same
// cause, the machine first. Empty where all checks have passed, and where the verdict alone says what failed.
// REQUIRES: the checks have run.
std::vector<Cause> causes_of(const RaceResult& race, const CaseResult& one);

// Returns whether the client was the limit of a contestant of the case, or may have been.
bool is_limited_by_client(const CaseResult& one);

}  // namespace joust::race
