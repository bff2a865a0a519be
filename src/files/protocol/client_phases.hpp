// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include "load/run.hpp"

namespace joust::file {

// The phase of one connection in its load: connecting, warm-up, timed window, the end. In turns it waits for
// the next turn after each. Records the one outstanding request.
class LoadPhases {
 public:
  explicit LoadPhases(LoadRun& run) : run_(run), plan_(run.plan()) {}

  enum class Phase : std::uint8_t {
    connecting,
    waiting,    // waits for the start, or the next turn
    warming,    // requests that are not recorded
    settling,   // no new request (messages only)
    ready,      // waits for the window (messages only)
    measuring,  // the timed window
    over,       // no new request
  };
  Phase phase() const { return phase_; }
  bool busy() const { return intended_.has_value(); }

  void opened(Time now);
  void advance(Time now);  // called first in every input
  void began(Time now, Time intended);
  void verified(Time now);                        // the outstanding request is answered
  void leave_window(Time now);                    // no request follows
  void rest(Time now);                            // no request follows in this turn
  bool at_rest() const;                           // between two turns, or before the first
  Turns::Number turn() const { return turn_; }    // the turn entered last
  void failed(const Failure& failure, Time now);  // the connection has failed; at most once
  void stopped(Time now) { run_.stopped(now); }
  bool in_window(Time now) const;
  void moved(std::uint64_t sent, std::uint64_t received, Time now);  // bytes
  std::optional<Time> deadline() const;                              // when to call advance()

 private:
  bool begins() const { return plan_.turns ? run_.turn() != turn_ : run_.start().has_value(); }
  void begin();

  LoadRun& run_;
  const LoadPlan& plan_;
  Phase phase_ = Phase::connecting;
  std::optional<Time> intended_;  // the intended send of the outstanding request
  bool answered_ = false;         // a request was answered in the window
  bool left_ = false;             // the window is left
  Turns::Number turn_ = 0;
};

}  // namespace joust::file
