// SPDX-License-Identifier: MIT
#pragma once

#include "net/stop.hpp"
#include "race/run/plan.hpp"
#include "race/trial/runner.hpp"

namespace joust::race {

// The largest share of the rounds that is repeated. After that, disturbed rounds are used, and reported.
inline constexpr double kMostRoundsAgain = 0.30;
// The number of failed trials after which a contestant is not run again.
inline constexpr std::size_t kMostFailures = 2;

// How often in a race a round is run again because a host was lost in it.
inline constexpr std::uint64_t kMostLostRounds = 3;

// Runs the plan's rounds, then the counting pass. After `stop` is requested, the current trial ends and the
// result is returned as incomplete. If a child refuses its arguments, returns at once with only `refused`
// set, because there is nothing to report. A round in which a host was lost is refused, and run again or the
// last one (Scenario::lost_host). Does not compute summaries and checks: see judge().
RaceResult run_race(const Scenario& scenario, Plan plan, TrialRunner& runner, RaceObserver& observer,
                    const Stop& stop);

}  // namespace joust::race
