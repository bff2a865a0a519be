// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
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

// The parsed options of the server.
struct WorkRules {
  Duration time{};  // for each unit of a workload
  Duration most{};  // for a request; a request for more is refused
  Kind kind = Kind::busy;
  std::uint64_t rounds_per_us = 0;  // of the busy loop; 0: the server measures it

  bool computes() const { return kind == Kind::busy && time > Duration::zero(); }
};

// Parse the options. They throw std::invalid_argument.
WorkRules work_rules(const Parameters& parameters);
std::int32_t workload(const Parameters& parameters);
bool in_two_writes(const Parameters& parameters);

// See Protocol::repeatable. Servers of one race run the same number of rounds for the same work: each would
// otherwise measure the loop at a moment of its own, and may find another speed.
Settings repeatable(Settings server, const Parameters& client);

std::unique_ptr<Service> make_server(const Parameters& parameters);
std::unique_ptr<Service> make_client(const Parameters& parameters, LoadRun& run);

}  // namespace joust::work
