// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "race/model/result.hpp"

// Selections of the entries and the rounds of a case.
namespace joust::race {

// Returns the contestants with trials, without the reference's second entry and the ceilings.
std::vector<const Entry*> contestants_of(const CaseResult& one);

// Returns the contestants with trials and the reference's second entry, whose faults are charged to the
// contestant it repeats.
std::vector<const Entry*> entries_of_contestants(const CaseResult& one);

// Returns true if any contestant has a trial to check.
bool anything_measured(const CaseResult& one);

// Returns the contestant that is charged with an entry's faults.
const std::string& answerable(const Entry& entry);

// Returns the last round begun by any entry.
std::uint64_t rounds_begun(const CaseResult& one);

// Returns how many rounds the case was run in. A case has fewer rounds than the race where several cases
// share its time.
std::uint64_t rounds_of(const CaseResult& one);

}  // namespace joust::race
