// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "race/model/result.hpp"

namespace joust::race {

// The fewest generations after which the noise of a case is estimated, and the most of a race.
inline constexpr std::uint64_t kGenerationsThatKnowNoise = 6, kMostGenerations = 40;

// The time that a generation took: before its first turn and after its last one, and one turn of each entry.
struct GenerationTime {
  Duration set_up{}, round_of_turns{};
  std::uint64_t turns = 0;  // of the entry with the most
};
GenerationTime time_of(const std::vector<Trial>& generation, Duration took);

// The turns of a case: their length, once it is known, and what its generations took.
struct TurnsOfCase {
  std::optional<Duration> length{};
  std::vector<GenerationTime> times{};
};

// The variances of the logarithm of a ratio to the reference: of a single turn, and of what differs from
// start to start of the processes. The median over the contestants, by the figure that is compared:
// throughput, or cost where throughput is given or a bound. Nothing if fewer than two generations or turns
// tell.
struct Noise {
  double of_turn = 0, of_generation = 0;
};
std::optional<Noise> noise_of(const CaseResult& one);

// Returns how many turns a contestant should have in the next generation so that the race tells most in the
// time that is left; nothing where as many as planned are right. Turns sample their own noise, generations
// also that of the starts, and cost a set-up. The best number is
//
//   sqrt(variance of a turn / variance between generations * set-up / round of turns)
//
// (Kalibera and Jones, "Rigorous benchmarking in reasonable time", ISMM 2013), but no fewer than
// kFewestTurns, nor so few that more than kMostGenerations would fit. It is no more than the first
// generation had: a race of fewer generations knows less of its noise. Before the noise is known, turns are
// as planned. `times`: of the generations so far.
std::optional<std::uint64_t> best_turns(const CaseResult& one, const std::vector<GenerationTime>& times,
                                        Duration left);

}  // namespace joust::race
