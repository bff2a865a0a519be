// SPDX-License-Identifier: MIT
#pragma once

#include "net/stop.hpp"
#include "race/plan.hpp"
#include "race/trial/runner.hpp"

namespace joust::race {

// At most this share of the rounds is run again; what is still disturbed then is used, and said.
inline constexpr double kMostRoundsAgain = 0.30;
// A contestant that has failed to give a result this often is not tried any more.
inline constexpr std::size_t kMostFailures = 2;

// Runs the plan's rounds, then the counting pass. Once `stop` is requested it ends after the current trial
// and keeps what it has: the result then is not complete. A trial that was refused ends it at once, with
// nothing but `refused`: who asks for what cannot be is told so, not shown a report. Neither summaries nor
// checks are made here: see judge().
RaceResult run_race(const Scenario& scenario, Plan plan, TrialRunner& runner, RaceObserver& observer,
                    const Stop& stop);

// Everything that follows from the recorded trials: summaries, ratios, checks, tie groups, verdicts. Pure;
// the bootstrap draws from the race's seed.
void judge(RaceResult& result);

// What the program should exit with: 0, 1 (incomplete, or no contestant can run here) or 3 (the measurement
// is invalid, or in one of the cases no contestant is sound).
int exit_code(const RaceResult& result);

}  // namespace joust::race
