// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "race/model/result.hpp"

// The thresholds of a race (--fail-below, --fail-cost-above), which make it usable as a test.
namespace joust::race {

// The exit code of a race with a contestant beyond a threshold.
inline constexpr int kBeyondThreshold = 99;

// Says which figures of a comparison are bounds, because the load was the limit.
struct Bounds {
  bool understated = false;                    // the true ratio is farther from 1 than the measured one
  bool contestant = false, reference = false;  // the true figure may be greater by any amount
};

// Decides whether a ratio lies beyond a limit, by its interval: the whole interval does, or no part of it
// does, or it is not decided. A limit that equals do not reach is passed only by contestants that are told
// apart (stats::is_told). An understated ratio proves a position only if the interval lies on the same side
// of 1 as of the limit. A figure that may be greater does not prove that a ratio is low.
Standing standing_of(const stats::Ratio& ratio, double limit, Fails fails, const Bounds& bounds);

// Returns the side of a limit that fails: "below 0.97".
std::string limit_words(Fails fails, double limit);

// Says what follows where a threshold is not decided. Something else may fail as well.
std::string undecided_words(bool fails);

// Compares all contestants of a case with the reference that was planned, by each threshold of the race.
// Where the reference differs from itself (check 4), the intervals are wider by that factor. Requires the
// checks and comparisons of the case.
std::vector<ThresholdFinding> compare_with_thresholds(const RaceResult& race, const CaseResult& one);

// Returns the sentences of all findings, in the order of the cases and contestants, and one for each case
// that a threshold says nothing about.
std::vector<std::string> threshold_sentences(const RaceResult& race);
// Returns the sentences of those that fail the race: beyond a threshold, or undecided where that fails.
std::vector<std::string> failed_thresholds(const RaceResult& race);

}  // namespace joust::race
