// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "race/model/result.hpp"
#include "stats/intervals.hpp"

// Whether the figures of a contestant's quiet turns are those of all its turns too.
namespace joust::race {

// The least difference between all turns and the quiet ones that counts.
inline constexpr double kUneven = 0.02;
// The fewest generations that tell a contestant's own stalls from chance.
inline constexpr std::size_t kGenerationsThatShowStalls = 3;

// A figure of turns: a sum over turns, divided by another. `quiet` is the level of the quiet turns
// (run_generation()), `all` the figure of all turns, which takes its place where both differ.
struct TurnFigure {
  const char* words;  // "throughput"
  double worse;       // the sign of a change for the worse
  double (*amount)(const Turn&), (*per)(const Turn&);
  std::optional<double> Trial::*quiet, Trial::*all;
};

// A turn that differs from the median turn of its generation: -0.5 is half of it.
struct UnevenTurn {
  std::uint64_t generation = 0, number = 0;
  double change = 0;
};

// A figure of one contestant. The changes are those from its quiet turns to all its turns, beyond the change
// of the other contestants: -0.05 is 5 % less.
struct Unevenness {
  std::string contestant{};
  const TurnFigure* figure = nullptr;
  double change = 0;
  stats::Interval interval{};       // of the change
  std::vector<UnevenTurn> worst{};  // the worst turns, the worst first
};

struct EvenTurns {
  std::size_t generations = 0;           // of the contestant with the most
  bool several = false;                  // several contestants, so that each is compared with the others
  std::vector<Unevenness> found{};       // changes for the worse, above kUneven and above chance
  std::optional<Unevenness> greatest{};  // the greatest change of the others
  double chance = 0;                     // the greatest change that chance explains
};

// Return the figure over all turns of a trial. Nothing where it has no turns, or is not known.
std::optional<double> throughput_of_all_turns(const Trial& trial);
std::optional<double> cost_of_all_turns(const Trial& trial);  // CPU time of the server for each message, us

// Compares the ratio of sums over all turns of a generation with its median turn, which stalls in less than
// half of the turns hardly move. The estimate over generations is that of Hodges and Lehmann, with Wilcoxon's
// interval (stats::centre), of which the side of a change for the worse counts. That holds for all of a case
// together with 99 %, so chance finds an equal contestant uneven in at most one race of a hundred. What
// disturbs the machine hits the turns of all, so a contestant's change is taken beyond the median of the
// others'. Of two that differ, the one whose own change is greater is named. Both entries of the reference
// count as one contestant.
EvenTurns even_turns_of(const CaseResult& one);

// Sets the figures of all turns (Trial::all_turns_...) of the contestants that even_turns_of() finds uneven
// by one of them, since both are figures of the same turns, and clears those of the others. In each
// generation it is the ratio of sums, times the median change of the other contestants from their ratio of
// sums to the level that they are compared by.
void count_uneven_turns(CaseResult& one);
// Returns the contestants whose figures are of all turns since.
std::vector<std::string> uneven_contestants(const CaseResult& one);

}  // namespace joust::race
