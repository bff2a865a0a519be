// SPDX-License-Identifier: MIT
#pragma once

#include "race/result.hpp"

// The checks of a race: small pure functions of the recorded data. Each checks one case. The checks that may
// bar contestants from the ranking come first (entry_checks); the others judge the remaining figures.
namespace joust::race {

// All thresholds. The number of the check is in the comment.
inline constexpr double kMostOfCeiling = 0.70;  // 1: of the generator's ceiling
inline constexpr double kSaturated = 0.95;      // 1: of the CPU time available
inline constexpr double kClearlyIdle = 0.90;  // 1: a server below this share of its CPU waits for its client
inline constexpr double kKept = 0.99;         // 2: least share of the schedule that is kept
inline constexpr double kFarBehind = 0.80;    // 2: a smaller share needs no interval
inline constexpr double kKeptConfidence = 0.95;      // 2: confidence with which a share below kKept is known
inline constexpr double kLatenessWorthAWord = 0.10;  // 2: median or p99, as a share of the median latency
inline constexpr double kLateGenerator = 0.10;       // 2: median lateness, relative to the latency that ranks
inline constexpr double kServed = 0.90;              // 3: least share of connections served
inline constexpr double kCoarse = 0.10;              // 4, 8, 9: above this, noise hides relevant differences
inline constexpr double kUnsteady = 0.04;  // 6: change between halves; the mean is then off by half of it
inline constexpr std::size_t kTrialsThatShowATrend = 3;  // 6: trials of a contestant
inline constexpr double kStealWorthAWord = 0.01;         // 7

CheckResult check_generator(const RaceResult& race, const CaseResult& one);     // 1
CheckResult check_schedule(const RaceResult& race, const CaseResult& one);      // 2, open loops only
CheckResult check_answers(const RaceResult& race, const CaseResult& one);       // 3
CheckResult check_same_twice(const RaceResult& race, const CaseResult& one);    // 4
CheckResult check_order(const RaceResult& race, const CaseResult& one);         // 5
CheckResult check_steady(const RaceResult& race, const CaseResult& one);        // 6
CheckResult check_interference(const RaceResult& race, const CaseResult& one);  // 7
CheckResult check_enough(const RaceResult& race, const CaseResult& one);        // 8
CheckResult check_ties(const RaceResult& race, const CaseResult& one);          // 9
CheckResult check_parity(const RaceResult& race, const CaseResult& one);        // 10
CheckResult check_environment(const RaceResult& race, const CaseResult& one);   // 11
CheckResult check_books(const RaceResult& race, const CaseResult& one);         // 12
CheckResult check_loss(const RaceResult& race, const CaseResult& one);          // 13, lossy deliveries only

// Returns whether any contestant of the case has a lossy delivery.
bool may_lose(const CaseResult& one);

// Runs all checks in their order, so that a check may use the result of an earlier one. Then ranks the
// contestants.
void run_checks(RaceResult& race, CaseResult& one);

}  // namespace joust::race
