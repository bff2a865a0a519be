// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "joust/protocol.hpp"

namespace joust::work {

// The longest time that a server may allow for one request. A longer one would exceed the patience of
// clients, and delay a server that is stopped.
inline constexpr Duration kMostWork = std::chrono::seconds(10);

std::vector<ProtocolOption> options();

// The way in which a server spends the time of a request.
enum class Kind : std::uint8_t {
  busy,   // computes: the thread that has the session does nothing else
  sleep,  // the reply becomes due later, as if another machine worked on it
};

struct Labour {
  Duration time{};  // for each unit of a workload
  Duration most{};  // for a request; a request for more is refused
  Kind kind = Kind::busy;
};

// Parse the options. They throw std::invalid_argument.
Labour labour(const Parameters& parameters);
std::int32_t workload(const Parameters& parameters);
bool in_two_writes(const Parameters& parameters);

}  // namespace joust::work
