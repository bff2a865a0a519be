// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "race/model/result.hpp"
#include "report/text.hpp"

namespace joust::report {

// Returns tables for a case where several clients meet several servers, with a row for each client and a
// column for each server. The first has messages per 10 s, as published comparisons print; for an open loop
// it has the 99th percentile of latency. The second has the server's CPU time per message. Contestants beside
// the matrix are left out. Empty where no matrix exists, and for a point of a sweep, whose tables compare its
// contestants.
std::string matrix_text(const race::CaseResult& one, const Terminal& terminal);

}  // namespace joust::report
