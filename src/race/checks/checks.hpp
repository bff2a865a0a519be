// SPDX-License-Identifier: MIT
#pragma once

#include "race/model/result.hpp"

// The checks of a race: small pure functions of the recorded data. Each checks one case. The checks that may
// bar contestants from the ranking come first (entry_checks); the others judge the remaining figures.
namespace joust::race {

// The noise that hides relevant differences, as a fraction: checks 4, 8 and 9 warn above it.
inline constexpr double kCoarse = 0.10;

// The definition of a check, with its thresholds, is in the file of its number.
CheckResult check_generator(const RaceResult& race, const CaseResult& one);     // 1
CheckResult check_schedule(const RaceResult& race, const CaseResult& one);      // 2, open loops only
CheckResult check_answers(const RaceResult& race, const CaseResult& one);       // 3
CheckResult check_same_twice(const RaceResult& race, const CaseResult& one);    // 4
CheckResult check_order(const RaceResult& race, const CaseResult& one);         // 5
CheckResult check_steady(const RaceResult& race, const CaseResult& one);        // 6
CheckResult check_interference(const RaceResult& race, const CaseResult& one);  // 7
CheckResult check_enough(const RaceResult& race, const CaseResult& one);        // 8
CheckResult check_decisions(const RaceResult& race, const CaseResult& one);     // 9
CheckResult check_parity(const RaceResult& race, const CaseResult& one);        // 10
CheckResult check_environment(const RaceResult& race, const CaseResult& one);   // 11
CheckResult check_books(const RaceResult& race, const CaseResult& one);         // 12
CheckResult check_loss(const RaceResult& race, const CaseResult& one);          // 13, lossy deliveries only
CheckResult check_stalls(const RaceResult& race, const CaseResult& one);        // 14, turns only

// Returns whether any contestant of the case has a lossy delivery.
bool may_lose(const CaseResult& one);
// Returns whether figures are levels of quiet turns, which leave out disturbances.
bool has_quiet_turns(const CaseResult& one);

}  // namespace joust::race
