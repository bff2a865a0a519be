// SPDX-License-Identifier: MIT
#pragma once

#include <set>
#include <string>

#include "report/race_sweep.hpp"

// Folds sweeps over many values. A page for each value would hide the curve, so the tables and checks of such
// a sweep's cases are folded to one line for each problem. The JSON has all of them.
namespace joust::report {

bool is_folded(const Curve& curve);

std::set<const race::CaseResult*> folded_cases(const race::RaceResult& race);

// Returns the description of the first case, for the place before the tables over the values.
std::string folded_head(const Curve& curve, const Terminal& terminal);

// Returns a line for each value at which a check refused something, and one for each check that only warned.
std::string folded_checks(const Curve& curve, const Terminal& terminal);

}  // namespace joust::report
