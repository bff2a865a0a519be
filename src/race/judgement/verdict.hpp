// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "race/model/result.hpp"

namespace joust::race {

// Returns the conclusion of a case in words.
std::string verdict_of(const RaceResult& race, const CaseResult& one);

// Formats the ratio of a pair that differs: "1.05x epoll (1.03 to 1.07)". Where the estimate is less than
// twice half the interval, races that tell a difference overstate it. Then the interval comes first. `bound`:
// empty, "at least " or "at most ".
std::string times_text(const stats::Ratio& ratio, std::string_view bound, const std::string& of);

// Says how much more is to be measured where a decision needs so many times the rounds: "about 20.0 s more
// would decide (--time)", or a number of rounds where the race has one or has ended early. Empty if it is
// more than sixty times.
std::string what_would_decide(double times, const RaceResult& race, const CaseResult& one);

}  // namespace joust::race
