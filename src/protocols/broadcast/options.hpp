// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "joust/protocol.hpp"

namespace joust::broadcast {

std::vector<ProtocolOption> options();

// The server's options as values.
struct RoomRules {
  bool each_alone = false;       // every message is sent to every member in a send of its own
  std::uint64_t room_bytes = 0;  // kept for slow members
};
RoomRules room_rules(const Parameters& parameters);  // throws std::invalid_argument

}  // namespace joust::broadcast
