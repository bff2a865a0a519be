// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "race/model/result.hpp"
#include "report/text.hpp"

// The tables of figures in a race's report.
namespace joust::report {

// Returns the table of places, throughput and latency.
std::string results_table(const race::CaseResult& one, const Terminal& terminal);

// Returns the same table for a case that is ranked by latency; part of results_table().
std::string latency_table(const race::CaseResult& one, const Terminal& terminal);

// Returns the table of the servers' CPU time per message, the cheapest first.
std::string cpu_table(const race::RaceResult& race, const race::CaseResult& one, const Terminal& terminal);

// Returns the table of the other costs of a message on both sides.
std::string costs_table(const race::CaseResult& one, const Terminal& terminal);

}  // namespace joust::report
