// SPDX-License-Identifier: MIT
#pragma once

#include "race/result.hpp"

namespace joust::race {

// The last round begun by any entry.
std::uint64_t rounds_begun(const CaseResult& one);

// How many rounds the case was run in. Where the cases of a race share its time, fewer than the race's.
std::uint64_t rounds_of(const CaseResult& one);

// Fills in the summary of every entry, without the ratios. If the case's reference has no result, the first
// contestant that has one becomes the reference.
void summarize(CaseResult& one);

// The conclusion in words.
std::string verdict_of(const RaceResult& race, const CaseResult& one);

}  // namespace joust::race
