// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "joust/time.hpp"

namespace joust {

// What the client side shall do. A load is closed: a connection sends its next request when a reply has made
// room.
struct LoadPlan {
  std::size_t connections = 1;
  // Of each connection, in the timed window; then the load is over. Without it `duration` ends the load.
  std::optional<std::uint64_t> messages{};
  Duration duration = std::chrono::seconds(10);  // of the timed window
  Duration warmup{};                             // before it: the same traffic, not recorded
  Duration interval{};      // from one request of a connection to the next; 0: as soon as there is room
  std::uint64_t depth = 1;  // requests outstanding on one connection
  Duration request_timeout = std::chrono::seconds(5);  // then the connection has failed
};

}  // namespace joust
