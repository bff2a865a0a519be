// SPDX-License-Identifier: MIT
#pragma once

#include <set>
#include <string>

#include "report/race_sweep.hpp"

// A sweep over many values would fill a page for each of them, so that nobody finds its curve: the tables and
// checks of such a sweep's cases are folded to a line where something is wrong. The JSON has all of them.
namespace joust::report {

bool is_folded(const Curve& curve);

std::set<const race::CaseResult*> folded_cases(const race::RaceResult& race);

// What the first of the cases is, before the tables over the values.
std::string folded_head(const Curve& curve, const Terminal& terminal);

// A line for each value at which a check refused something, and one for each check that only warned.
std::string folded_checks(const Curve& curve, const Terminal& terminal);

}  // namespace joust::report
