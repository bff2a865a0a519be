// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "race/model/result.hpp"
#include "report/text.hpp"

namespace joust::report {

// Returns a judged race as text: for each case its load, results, costs on both sides, checks and the verdict
// in plain words.
std::string race_table(const race::RaceResult& race, const Terminal& terminal);

// Describes a load: "echo, 256 connections, closed loop, 32 B, 1.00 s after 300 ms of warm-up".
std::string load_text(const race::Case& one);

}  // namespace joust::report
