// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "stats/intervals.hpp"

namespace joust::race {

// "what is wrong; allowed: a, b; did you mean 'b'?", used for every invalid word.
std::string not_allowed(std::string_view problem, std::string_view word,
                        std::span<const std::string> allowed);

// "0.98 to 1.04", of a ratio. A high end that says only that the interval is wide is ">100".
std::string interval_words(const stats::Interval& interval, int digits);

// A contestant's name among others. One with a comma of its own is in quotes: "cp, 'nginx, curl', rsync".
std::string in_list(const std::string& name);

}  // namespace joust::race
