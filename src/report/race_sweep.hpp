// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "race/result.hpp"
#include "report/text.hpp"

namespace joust::report {

// For each sweep of a race: what every contestant did at every value, as a table and as a chart, first
// throughput (of an open loop the 99th percentile of latency; of files their bytes), then the server's CPU
// time per message. Empty for a race without a sweep.
std::string sweeps_text(const race::RaceResult& race, const Terminal& terminal);

}  // namespace joust::report
