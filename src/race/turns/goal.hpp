// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "race/plan.hpp"

namespace joust::race {

// When a race without a given number of rounds ends: when its time is over, or, in turns, at a look that
// finds every ratio precise enough, and differences of that size told. To look often and to stop when the
// result pleases would make intervals too narrow, so the number of looks is fixed beforehand, and counted
// among the comparisons (stats::Family): the end itself and kEarlyLooks before it.
class Goal {
 public:
  static constexpr std::size_t kEarlyLooks = 2;
  static constexpr std::size_t kLooks = kEarlyLooks + 1;

  Goal(const Scenario& scenario, const Plan& plan, Time begun);

  // Whether another round would end in time; the first may begin in any case. Called once after each round.
  bool has_time(std::uint64_t rounds, Time now);
  // Where all of several cases take turns, those that go on share the time that is left: a case whose
  // generations take longer than its part has fewer of them. `took` is the length of a generation.
  bool has_part(std::size_t case_index, Time now) const;
  void took(std::size_t case_index, Duration generation);
  bool has_time_for(Duration round, Time now) const;
  bool is_over(Time now) const { return now >= begun_ + scenario_->time; }
  // Whether the race is looked at after so many rounds.
  bool is_look(std::uint64_t rounds) const;
  // Finds the cases whose ratios are precise enough. They stay so: no more rounds are run of them.
  void look(RaceResult so_far);
  bool reached(std::size_t case_index) const { return reached_[case_index]; }
  bool reached() const;  // by all cases

 private:
  const Scenario* scenario_;
  Time begun_, round_began_;
  Duration longest_round_{};
  Duration reserve_{};  // for the trials that count system calls: those of one case, or a quarter of the time
  bool shares_time_ = false;
  std::vector<Duration> longest_;  // generation of each case
  std::vector<bool> reached_;
  bool untimed_ = false;  // some of these end after a number of messages: all of them take less than a round
  std::uint64_t first_look_ = 0;
};

}  // namespace joust::race
