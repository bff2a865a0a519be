// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "joust/time.hpp"
#include "load/in_flight.hpp"
#include "load/schedule.hpp"
#include "load/turns.hpp"

namespace joust {

// How far one connection of a load has come: a part of its session, which reads and writes it for every
// message.
struct Progress {
  enum class Phase : std::uint8_t {
    waiting,    // for the start, or the next turn; the first requests are written, but not shown
    warming,    // requests that are not recorded: the warm-up, or the ramp of a turn
    settling,   // no new requests until all are answered (messages and turns only)
    ready,      // for the window; its first requests are written, but not shown (messages only)
    measuring,  // the timed window
    finishing,  // no new requests; the last replies are still verified
  };

  Phase phase_ = Phase::waiting;
  bool answered_ = false;  // in the window
  bool left_window_ = false;
  bool cut_off_ = false;         // after the window: its requests are not waited for any more
  Turns::Number turn_ = 0;       // the last one that was entered
  Time opens_{};                 // the window, as far as this connection knows
  Time closes_ = Time::max();    // (duration only)
  std::uint64_t in_window_ = 0;  // requests written for the window, or the turn (messages only)
  InFlight intended_{};          // when each outstanding request was meant to be sent
};

// What a connection that ends with a reply leaves to the one that takes its place.
struct Handover {
  explicit Handover(const Schedule& its_schedule) : schedule(its_schedule) {}

  Progress progress{};
  Schedule schedule;
  InFlight sent;                // open loop: when each outstanding request was sent for the first time
  std::uint64_t in_flight = 0;  // counted as such by the recorder, until another connection sends them again
};

}  // namespace joust
