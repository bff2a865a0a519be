// SPDX-License-Identifier: MIT
#pragma once

#include "race/result.hpp"
#include "stats/comparison.hpp"

namespace joust::race {

// Throughput by round; empty for rounds without a usable trial.
stats::Rounds throughput_by_round(const Entry& entry, std::uint64_t rounds);

// The last round begun by any entry.
std::uint64_t rounds_begun(const CaseResult& one);

// Fills in the summary of every entry. The ratios are to the case's reference, or to the first contestant
// with a result if the reference has none.
void summarize(CaseResult& one, std::uint64_t seed);

// The ratio of two entries of one case, paired by round.
stats::Ratio ratio_of(const Entry& entry, const Entry& to, std::uint64_t rounds, std::uint64_t seed);

// The conclusion in words.
std::string verdict_of(const RaceResult& race, const CaseResult& one);

}  // namespace joust::race
