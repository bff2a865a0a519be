// SPDX-License-Identifier: MIT
#pragma once

#include "race/result.hpp"

namespace joust::race {

// Returns the last round begun by any entry.
std::uint64_t rounds_begun(const CaseResult& one);

// Returns how many rounds the case was run in. A case has fewer rounds than the race where several cases
// share its time.
std::uint64_t rounds_of(const CaseResult& one);

// Fills in the summary of every entry, without the ratios. If the case's reference has no result, the first
// contestant that has one becomes the reference.
void summarize(CaseResult& one);

// Returns the conclusion of a case in words.
std::string verdict_of(const RaceResult& race, const CaseResult& one);

}  // namespace joust::race
