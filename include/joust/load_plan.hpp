// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "joust/time.hpp"

namespace joust {

// The client's traffic. A load is closed: a connection sends its next request when a reply has freed a slot.
struct LoadPlan {
  std::size_t connections = 1;
  // Of each connection, in the timed window; then the load ends. If empty, `duration` ends the load.
  std::optional<std::uint64_t> messages{};
  Duration duration = std::chrono::seconds(10);  // of the timed window
  Duration warmup{};                             // before it: the same traffic, not recorded
  Duration interval{};      // between requests of one connection; 0: the next is sent when a slot is free
  std::uint64_t depth = 1;  // slots: requests outstanding on one connection
  Duration request_timeout = std::chrono::seconds(5);  // after this time the connection has failed
  // The connections rest, and send only in the turns that LoadRun::begin_turn() starts; messages, duration
  // and warmup are not used. For protocols that take turns (Protocol::takes_turns).
  bool turns = false;
};

}  // namespace joust
