// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "joust/protocol.hpp"
#include "session/least_rate.hpp"

namespace joust::broadcast {

std::vector<ProtocolOption> options();

// The server's options as values.
struct RoomRules {
  bool each_alone = false;       // every message is sent to every member in a send of its own
  std::uint64_t room_bytes = 0;  // kept for slow members
  std::uint64_t member_rate = 0;  // bytes per second that a member may publish; 0: see RoomLog
  RateRules rates{};
};
RoomRules room_rules(const Parameters& parameters);  // throws std::invalid_argument

}  // namespace joust::broadcast
