// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "race/model/result.hpp"

namespace joust::race {

struct TrialOrder {
  const Case& load_case;
  const Entry& entry;
  bool count_calls = false;  // count system calls; this slows them, so other figures are not used
};

// The size of one turn: the contestant sends for a time, or a number of messages on each connection.
struct TurnSize {
  Duration time{};
  std::uint64_t messages = 0;
};

// Contestants that live at the same time, each with a server and a load of its own, and take turns. They are
// numbered in the order in which they were given.
class Generation {
 public:
  virtual ~Generation() = default;
  // Starts a contestant and opens its connections. False if it cannot take part.
  virtual bool start(std::size_t contestant) = 0;
  // Lets the contestant work for `size`, while the others are stopped. A turn that is not `recorded` is not
  // part of its result. Returns nothing if the contestant has failed or the user interrupted: then it takes
  // no further turn.
  virtual std::optional<Turn> take_turn(std::size_t contestant, TurnSize size, bool recorded) = 0;
  // Ends a contestant. The trial has all its data except its place in the race and its turns.
  virtual Trial finish(std::size_t contestant) = 0;
};

// Measures one contestant once. The real runner starts processes; the tests' runner needs neither processes
// nor time.
class TrialRunner {
 public:
  virtual ~TrialRunner() = default;
  // Failures of the contestant are recorded in the trial (failure, last_words, refused). Throws only for a
  // bug, or if no process can be started. The caller fills in round, attempt and position.
  virtual Trial run(const TrialOrder& order) = 0;
  // Returns null for a runner that does not support turns.
  virtual std::unique_ptr<Generation> generation(std::vector<TrialOrder> /*orders*/) { return nullptr; }
};

// Receives the progress of a race, for display.
class RaceObserver {
 public:
  virtual ~RaceObserver() = default;
  struct Step {
    std::uint64_t round = 0, rounds = 0;  // the total; 0: the race ends by time or precision
    std::size_t trial = 0, trials = 0;    // number of this trial, from 1, and the total; 0 as with `rounds`
    Duration time{};                      // which the race may take, if it has no number of rounds
    const Entry& entry;
    const Case& load_case;
    std::string interim{};                // ratios of the case so far, in words; may be empty
    std::vector<std::string> warnings{};  // what disturbed the latest trials of the case
    bool counting = false;
  };
  virtual void trial_starts(const Step&) {}
  virtual void trial_ended(const Step&, const Trial&) {}
  virtual void note(const std::string&) {}  // a message to show at once: a failure, a repeated round
};

}  // namespace joust::race
