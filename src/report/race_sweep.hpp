// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "race/model/result.hpp"
#include "report/text.hpp"

namespace joust::report {

// The cases of one sweep, in the order of their values. Several rates are a sweep over the rate.
using Curve = std::vector<const race::CaseResult*>;
std::vector<Curve> curves_of(const race::RaceResult& race);

// Formats the value of a case of a curve: "64", "64KiB", "1,000". A rate that is a share of the capacity is
// "4,500 (30%)".
std::string value_text(const race::Case& one);

// Returns, for each sweep of a race, the figures of every contestant at every value, as a table and as a
// chart. The first figure is throughput (for an open loop the 99th percentile of latency; for files their
// bytes), the second is the server's CPU time per message. For a sweep over many values its findings follow
// (race_folded.hpp). Empty for a race without a sweep.
std::string sweeps_text(const race::RaceResult& race, const Terminal& terminal);

}  // namespace joust::report
