// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>

#include "net/stop.hpp"
#include "race/plan.hpp"
#include "race/trial/runner.hpp"

namespace joust::race {

// The largest share of the rounds that is repeated. After that, disturbed rounds are used, and reported.
inline constexpr double kMostRoundsAgain = 0.30;
// The number of failed trials after which a contestant is not run again.
inline constexpr std::size_t kMostFailures = 2;

// Runs the plan's rounds, then the counting pass. After `stop` is requested, the current trial ends and the
// result is returned as incomplete. If a child refuses its arguments, returns at once with only `refused`
// set, because there is nothing to report. Does not compute summaries and checks: see judge().
RaceResult run_race(const Scenario& scenario, Plan plan, TrialRunner& runner, RaceObserver& observer,
                    const Stop& stop);

// Returns the throughput of the slowest contestant in each case of a pilot, by the case's name. A case in
// which nothing was measured has no entry.
std::map<std::string, Capacity> capacities_of(const RaceResult& pilot);

// Computes summaries, ratios, checks, tie groups and verdicts from the recorded trials. Pure; the
// permutation tests of check 5 use the race's seed.
void judge(RaceResult& result);

// Returns why nothing should be concluded from a race, or less than was asked for: a check refuses it, or no
// contestant of a case is sound. Unless the scenario allows them, two more reasons count: a contestant is not
// ranked, or the race distinguishes no contestants. Empty if there is no reason.
std::string invalid_because(const RaceResult& race);

// The program's exit code: 0, 1 (incomplete, or no contestant can run here) or 3 (invalid_because()).
int exit_code(const RaceResult& result);

}  // namespace joust::race
