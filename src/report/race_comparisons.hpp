// SPDX-License-Identifier: MIT
#pragma once

#include <set>
#include <string>

#include "race/model/result.hpp"
#include "report/text.hpp"

// Tables that compare the contestants of a race over its clients and servers, and over its cases.
namespace joust::report {

// Returns tables for a case where several clients meet several servers, with a row for each client and a
// column for each server. The first has messages per 10 s, as published comparisons print; for an open loop
// it has the 99th percentile of latency. The second has the server's CPU time per message. Contestants beside
// the matrix are left out. Empty where no matrix exists, and for a point of a sweep, whose tables compare its
// contestants.
std::string matrix_text(const race::CaseResult& one, const Terminal& terminal);

// Returns, for each sweep of a race, the figures of every contestant at every value, as a table and as a
// chart. The first figure is throughput (for an open loop the 99th percentile of latency; for files their
// bytes), the second is the server's CPU time per message. For a sweep over many values its findings follow.
// Empty for a race without a sweep.
std::string sweeps_text(const race::RaceResult& race, const Terminal& terminal);

// Returns the cases of sweeps over many values, whose tables and checks are folded in sweeps_text().
std::set<const race::CaseResult*> folded_cases(const race::RaceResult& race);

}  // namespace joust::report
