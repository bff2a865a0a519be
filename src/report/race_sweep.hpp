// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "race/result.hpp"
#include "report/text.hpp"

namespace joust::report {

// The cases of one sweep, in the order of their values. Several rates are a sweep over the rate.
using Curve = std::vector<const race::CaseResult*>;
std::vector<Curve> curves_of(const race::RaceResult& race);

// Of a case of a curve: "64", "64KiB", "1,000"; "4,500 (30%)" of a rate that is a share of the capacity.
std::string value_text(const race::Case& one);

// For each sweep of a race: what every contestant did at every value, as a table and as a chart, first
// throughput (of an open loop the 99th percentile of latency; of files their bytes), then the server's CPU
// time per message. Of a sweep over many values its findings follow (race_folded.hpp). Empty for a race
// without a sweep.
std::string sweeps_text(const race::RaceResult& race, const Terminal& terminal);

}  // namespace joust::report
