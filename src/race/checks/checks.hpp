// SPDX-License-Identifier: MIT
#pragma once

#include "race/result.hpp"

// The honesty checks: small pure functions over what was recorded. Each looks at one case of a race. Those
// that may keep contestants from being ranked come first (entry_checks); the others judge the figures that
// are left.
namespace joust::race {

// The figures that decide, in one place.
inline constexpr double kMostOfCeiling = 0.70;  // 1: of the generator's ceiling
inline constexpr double kSaturated = 0.95;      // 1: of the CPU time there was
inline constexpr double kClearlyIdle = 0.90;  // 1: below this share of its CPU a server waits for its client
inline constexpr double kServed = 0.90;  // 3: of the connections; below it a server starves some for others
inline constexpr double kLeastDifference = 0.02;   // 9: never call less than this a difference
inline constexpr double kCoarse = 0.10;            // 4, 5, 8, 9: more than this hides what people race for
inline constexpr std::uint64_t kEnoughRounds = 6;  // 8: five can hold the truth 94 % of the time at most
inline constexpr double kStealWorthAWord = 0.01;   // 7

CheckResult check_generator(const RaceResult& race, const CaseResult& one);     // 1
CheckResult check_answers(const RaceResult& race, const CaseResult& one);       // 3
CheckResult check_same_twice(const RaceResult& race, const CaseResult& one);    // 4
CheckResult check_order(const RaceResult& race, const CaseResult& one);         // 5
CheckResult check_interference(const RaceResult& race, const CaseResult& one);  // 7
CheckResult check_enough(const RaceResult& race, const CaseResult& one);        // 8
CheckResult check_ties(const RaceResult& race, const CaseResult& one);          // 9
CheckResult check_parity(const RaceResult& race, const CaseResult& one);        // 10
CheckResult check_environment(const RaceResult& race, const CaseResult& one);   // 11
CheckResult check_books(const RaceResult& race, const CaseResult& one);         // 12

// Runs them all in the order that lets one build on another, and ranks the contestants by what they found.
void run_checks(RaceResult& race, CaseResult& one);

}  // namespace joust::race
