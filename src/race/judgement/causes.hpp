// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "race/model/result.hpp"

namespace joust::race {

// Returns what limits the answer of a case, the machine first: one sentence and one remedy for what several
// checks with the same reason have found, and then each warning that only one of them has. The remedy is
// empty where the next one is of the same check. Contestants that are not ranked are told by the verdict.
// REQUIRES: the checks have run.
std::vector<Cause> causes_of(const RaceResult& race, const CaseResult& one);

// Returns whether the client was the limit of a contestant of the case, or may have been.
bool is_limited_by_client(const CaseResult& one);

}  // namespace joust::race
