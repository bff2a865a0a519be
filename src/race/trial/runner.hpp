// SPDX-License-Identifier: MIT
#pragma once

#include "race/result.hpp"

namespace joust::race {

struct TrialOrder {
  const Case& load_case;
  const Entry& entry;
  bool count_calls = false;  // count system calls, which slows them: the trial's other figures are not used
};

// Measures one contestant once. The real one starts processes; tests have one without processes and without
// time.
class TrialRunner {
 public:
  virtual ~TrialRunner() = default;
  // Whatever happens to the contestant is told in the trial (failure, last_words, refused); only a bug or a
  // machine that can start no process throws. Round, attempt and position are the caller's to fill in.
  virtual Trial run(const TrialOrder& order) = 0;
};

// Told what happens, for a progress display.
class RaceObserver {
 public:
  virtual ~RaceObserver() = default;
  struct Step {
    std::uint64_t round = 0, rounds = 0;
    std::size_t trial = 0, trials = 0;  // this one, from 1, and how many there will be
    const Entry& entry;
    const Case& load_case;
    bool counting = false;
  };
  virtual void trial_starts(const Step&) {}
  virtual void trial_ended(const Step&, const Trial&) {}
  virtual void note(const std::string&) {
  }  // something the user should see at once: a failure, a round run again
};

}  // namespace joust::race
