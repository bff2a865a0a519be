// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "joust/time.hpp"
#include "load/in_flight.hpp"
#include "load/schedule.hpp"
#include "load/turns.hpp"

namespace joust {

// The progress of one connection of a load: a part of its session, which reads and writes it for every
// message.
struct Progress {
  enum class Phase : std::uint8_t {
    waiting,    // for the start, or the next turn; the first requests are written, but not shown
    warming,    // requests that are not recorded: the warm-up, or the ramp of a turn
    settling,   // no new requests until all are answered (messages and turns only)
    ready,      // for the window; the first requests are written, but not shown (messages only)
    measuring,  // the timed window
    finishing,  // no new requests; the last replies are still verified
  };

  Phase phase_ = Phase::waiting;
  bool answered_ = false;  // a reply was verified in the window
  bool left_window_ = false;
  bool cut_off_ = false;         // after the window: its requests are not awaited any more
  Turns::Number turn_ = 0;       // the turn that was entered last
  Time opens_{};                 // the window, as far as this connection knows
  Time closes_ = Time::max();    // (duration only)
  std::uint64_t in_window_ = 0;  // requests written for the window, or the turn (messages only)
  InFlight intended_{};          // intended send time of each outstanding request
};

// The state that a connection which ends with a reply leaves to the next connection of its channel.
struct Handover {
  explicit Handover(const Schedule& its_schedule) : schedule(its_schedule) {}

  Progress progress{};
  Schedule schedule;
  InFlight sent;                // open loop: first send time of each outstanding request
  std::uint64_t in_flight = 0;  // counted as in flight by the recorder, until they are sent again
};

}  // namespace joust
