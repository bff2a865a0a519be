// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "joust/protocol.hpp"
#include "protocols/broadcast/carriage.hpp"
#include "session/least_rate.hpp"

namespace joust::broadcast {

std::vector<ProtocolOption> options();
// See Protocol::no_effect and Protocol::demands.
std::string no_effect(const std::string& option, Role side, const Parameters& client);
Demands demands_of(const Parameters& parameters);

// The parsed options of the server.
struct RoomRules {
  bool each_alone = false;        // each message is sent to each member in its own send
  std::uint64_t room_bytes = 0;   // bytes of the log kept for slow members
  std::uint64_t member_rate = 0;  // bytes per second that a member may publish; 0: see RoomLog
  RateRules rates{};
  Carriage carriage = Carriage::length;
};
RoomRules room_rules(const Parameters& parameters);  // throws std::invalid_argument

}  // namespace joust::broadcast
