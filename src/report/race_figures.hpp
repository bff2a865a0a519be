// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "race/result.hpp"
#include "report/text.hpp"

// The tables of figures in a race's report.
namespace joust::report {

// Who came where, with what throughput and latency.
std::string results_table(const race::CaseResult& one, const Terminal& terminal);

// The same for a case that is ranked by latency; part of results_table().
std::string latency_table(const race::CaseResult& one, const Terminal& terminal);

// The CPU time of the servers per message, the cheapest first.
std::string cpu_table(const race::CaseResult& one, const Terminal& terminal);

// What a message costs on either side besides.
std::string costs_table(const race::CaseResult& one, const Terminal& terminal);

}  // namespace joust::report
