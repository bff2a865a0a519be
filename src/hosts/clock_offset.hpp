// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <string>

#include "hosts/link.hpp"

namespace joust {

// The monotonic clock of another host beside that of this one.
struct ClockOffset {
  Duration offset{};              // of its clock to this one
  Duration error{};               // at most: half of the round trip of the message that told it
  Duration slowest_round_trip{};  // of all messages
};

// Asks a host several times for its clock (the request "clock", the reply has "now_ns"), and keeps the sample
// with the least round trip. Fails if the host does not answer.
std::expected<ClockOffset, std::string> measure_clock(HostLink& host, int samples = 40);

}  // namespace joust
