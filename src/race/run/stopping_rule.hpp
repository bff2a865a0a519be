// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "race/model/result.hpp"
#include "race/run/plan.hpp"
#include "stats/comparison.hpp"

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

// When a race without a given number of rounds ends: when its time is over, or, in turns, at a look that
// finds every ratio precise enough, and differences of that size told apart. A race that looked often, and
// stopped at a pleasing result, would have too narrow intervals. So the looks are fixed beforehand, and each
// has its share of the errors that are allowed (stats::Look).
class StoppingRule {
 public:
  static constexpr std::size_t kLooks = 3;

  StoppingRule(const Scenario& scenario, const Plan& plan, Time begun);

  // Returns whether another round would end in time. The first round may begin in any case. Called once after
  // each round.
  bool has_time(std::uint64_t rounds, Time now);
  // Returns whether a case has time for another generation. Where all of several cases take turns, the cases
  // that go on share the time that is left: a case whose generations take longer than its part has fewer of
  // them. took() reports the length of a generation.
  bool has_part(std::size_t case_index, Time now) const;
  void took(std::size_t case_index, Duration generation);
  bool has_time_for(Duration round, Time now) const;
  bool is_over(Time now) const { return now >= begun_ + scenario_->time; }
  // Returns the look that comes after so many rounds: the last one if the race is not over before.
  static stats::Look look_after(std::uint64_t rounds);
  // Finds the cases whose ratios are precise enough. Such a case stays precise: it has no more rounds, and no
  // more looks.
  void look(RaceResult so_far, Time now);
  bool reached(std::size_t case_index) const { return reached_[case_index].has_value(); }
  // Returns the look at which a case was precise enough; otherwise the last one.
  stats::Look look_of(std::size_t case_index) const {
    return reached_[case_index].value_or(stats::Look::last);
  }
  bool reached() const;  // by all cases
  const std::vector<TakenLook>& looks_at(std::size_t case_index) const { return taken_[case_index]; }

 private:
  const Scenario* scenario_;
  Time begun_, round_began_;
  Duration longest_round_{};
  // The time for the trials that count calls: that of all cases, but at most a quarter of the race's time, or
  // that of the longest case if this is greater.
  Duration reserve_{};
  bool shares_time_ = false;
  std::vector<Duration> longest_;  // generation of each case
  std::vector<std::optional<stats::Look>> reached_;
  std::vector<std::vector<TakenLook>> taken_;  // by case
  bool untimed_ = false;  // the end of some counting trials is not timed: all of them take less than a round
};

}  // namespace joust::race
