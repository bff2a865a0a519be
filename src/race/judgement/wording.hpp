// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "stats/intervals.hpp"

namespace joust::race {

// "1.04": so many decimals, or as many as two significant digits take: "0.0052". Fewer where the number is
// large: "28.4", "2875".
std::string ratio_words(double ratio, int decimals);

// "0.98 to 1.04", of a ratio. "not known" where it says as little: both directions, and a factor of ten in
// each.
std::string interval_words(const stats::Interval& interval, int decimals);

// A contestant's name among others. One with a comma of its own is in quotes: "cp, 'nginx, curl', rsync".
std::string in_list(const std::string& name);

}  // namespace joust::race
