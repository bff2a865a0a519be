// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "race/result.hpp"

// Trials that count system calls, and are not timed.
namespace joust::race {

// The failure of a trial that was not measured. Without one, its load got no reply.
std::string what_failed(const Trial& trial);

// Why the window of a counting trial is too short; empty if it is long enough.
std::string too_little_to_count(const LoadResult& load);

// Why the calls of so few files would not be counted; empty if there are enough, or no files.
std::string too_few_to_count(const Case& one);

// Gives a timed trial the calls that its messages take by these counts.
void apply(const CallCount& calls, Trial& trial);

// A counting trial of contestants that take turns has a window of its own, and a short one: calls are the
// same in every window.
void make_short(Case& one);

}  // namespace joust::race
