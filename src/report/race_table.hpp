// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "race/model/result.hpp"
#include "report/page/document.hpp"
#include "report/text.hpp"

namespace joust::report {

// Returns a judged race as text. For each case: what others took of the machine, the answer, a table, and
// what else limits the answer. With `details` also the tables of results, costs and resources, and all
// checks. `document`: that of the race.
std::string race_table(const race::RaceResult& race, const page::Document& document, const Terminal& terminal,
                       bool details = false);

// Describes a load: "echo, 256 connections, closed loop, 32 B, 1.00 s after 300 ms of warm-up".
std::string load_text(const race::Case& one);

}  // namespace joust::report
