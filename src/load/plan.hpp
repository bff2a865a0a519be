// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "joust/time.hpp"

namespace joust {

// What the client side is to do. A load is closed: a connection sends its next request when a reply has made
// room.
struct LoadPlan {
  std::size_t connections = 1;
  std::optional<std::uint64_t>
      messages{};  // each connection's, in the timed window; without it `duration` rules
  Duration duration = std::chrono::seconds(10);  // of the timed window
  Duration warmup{};                             // before it: the same traffic, not recorded
  Duration interval{};                           // from one send of a connection to the next, by the schedule
  std::uint64_t depth = 1;                       // requests outstanding on one connection
  Duration request_timeout = std::chrono::seconds(5);
};

}  // namespace joust
