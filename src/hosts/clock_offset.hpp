// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <expected>
#include <string>

#include "hosts/link.hpp"

namespace joust {

// A host may report any number as a time. No machine has run for longer than this (36 years), and no sum of
// times within it overflows.
inline constexpr std::int64_t kLongestUptime_ns = std::int64_t{1} << 60;

// The monotonic clock of another host beside that of this one.
struct ClockOffset {
  Duration offset{};              // of its clock to this one
  Duration error{};               // at most: half of the round trip of the message that told it
  Duration slowest_round_trip{};  // of all messages
};

// Asks a host several times for its clock (the request "clock", the reply has "now_ns"), and keeps the sample
// with the least round trip. Fails if the host does not answer, or with a time that no clock
// has.
std::expected<ClockOffset, std::string> measure_clock(HostLink& host, int samples = 40);

}  // namespace joust
