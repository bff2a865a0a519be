// SPDX-License-Identifier: MIT
#pragma once

#include "race/result.hpp"
#include "stats/comparison.hpp"

namespace joust::race {

// Throughput by round, nothing where there is no usable trial.
stats::Rounds throughput_by_round(const Entry& entry, std::uint64_t rounds);

// The last round that any entry has begun.
std::uint64_t rounds_begun(const CaseResult& one);

// Fills in every entry's summary. The ratios are to the case's reference, or to the first contestant with a
// result when that has none.
void summarize(CaseResult& one, std::uint64_t seed);

// The ratio of two entries of one case, paired by round.
stats::Ratio ratio_of(const Entry& entry, const Entry& to, std::uint64_t rounds, std::uint64_t seed);

// What the race says, in plain words.
std::string verdict_of(const RaceResult& race, const CaseResult& one);

}  // namespace joust::race
