// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "race/result.hpp"

// Trials that count system calls, and are not timed.
namespace joust::race {

// Why the window of a counting trial is too short; empty if it is long enough.
std::string too_little_to_count(const LoadResult& load);

// A counting trial of contestants that take turns has a window of its own, and a short one: calls are the
// same in every window.
void make_short(LoadPlan& load);

}  // namespace joust::race
