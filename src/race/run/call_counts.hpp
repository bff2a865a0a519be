// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "race/model/result.hpp"
#include "race/run/plan.hpp"

// Trials that count system calls, without timing.
namespace joust::race {

// Describes the failure of a trial that was not measured. A trial without a failure got no reply.
std::string what_failed(const Trial& trial);

// Returns why the window of a counting trial is too short; empty if it is long enough.
std::string too_little_to_count(const LoadResult& load);

// Returns why the calls of so few files would not be counted; empty if the files are enough, or if the case
// has none.
std::string too_few_to_count(const Case& one);

// Gives a timed trial the number of calls that its messages take according to these counts.
void apply(const CallCount& calls, Trial& trial);

// Copies the counts of each contestant to its second entry, and notes why other entries have none.
void share_counts(CaseResult& one);

// Plans a race without counts of calls, for this reason.
void leave_out_calls(Plan& plan, const std::string& reason);

// Gives a counting trial of contestants that take turns a window of its own. The window is short, because
// calls are the same in every window.
void make_short(Case& one);

}  // namespace joust::race
