// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "race/model/result.hpp"

// Sentences about two contestants, for verdicts and advice. A sentence names the contestants first, then the
// better one or the direction, then the number with its interval. Names are as users gave them.
namespace joust::race {

// Joins words: "a", "a and b", "a, b and c".
std::string enumerate(const std::vector<std::string>& words);

// Formats a ratio: "1.05x the throughput (1.03 to 1.07)". Where the estimate is less than twice half the
// interval, races that tell a difference overstate it. Then the interval comes first. Where one figure is a
// bound, only one end of the interval is known: "at least 1.03x the throughput (1.05x was measured)".
enum class Known : std::uint8_t { both, least, most };
std::string times_text(const stats::Ratio& ratio, Known known, const std::string& of);

// Returns the figure that ranks a case, in words: "throughput", "p99 latency".
std::string figure_words(const CaseResult& one);

// Compare contestants with the reference of a case, by the figure that ranks it and by CPU time. All of them
// are pairs with the reference as their `b`. Pairs of which nothing is known are left out.
std::vector<std::string> figure_sentences(const std::vector<Pair>& pairs, const RaceResult& race,
                                          const CaseResult& one);
std::vector<std::string> cost_sentences(const std::vector<Pair>& pairs, const RaceResult& race,
                                        const CaseResult& one);

// Returns a CPU time beside another one: "needs 3.2 % less CPU for a message than epoll (2.5 to 3.8 %)".
std::string cost_text(const Pair& pair, const CaseResult& one);

// Says how long a race must be in all for so many times the rounds, in one digit: "about 50 rounds in all
// (--rounds 50)", "about 3 minutes in all (--time 3m)". Empty if it is more than twenty times, or no more
// than the race has had.
std::string length_in_all(double times, const RaceResult& race, const CaseResult& one);

}  // namespace joust::race
