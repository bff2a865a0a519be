// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "race/result.hpp"
#include "report/text.hpp"

namespace joust::report {

// Where several clients meet several servers: tables with a row for each client and a column for each server.
// The first is of messages per 10 s, as published comparisons print (of an open loop, the 99th percentile of
// latency), the second of the server's CPU time per message. Contestants beside the matrix are left out.
// Empty where there is no matrix, and for a point of a sweep, whose tables compare its contestants.
std::string matrix_text(const race::CaseResult& one, const Terminal& terminal);

}  // namespace joust::report
