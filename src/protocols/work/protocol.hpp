// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "joust/protocol.hpp"

namespace joust {

// Measures the speed of the busy loop, in some tens of milliseconds: the shortest of several trials, because
// a disturbance always lengthens a trial. Two measurements may differ by half where other programs or virtual
// machines share the core.
double busy_loop_rounds_per_us();

// A loop that occupies a CPU for a given time without reading a clock, which would take time of its own.
class BusyLoop {
 public:
  explicit BusyLoop(double rounds_per_us) : rounds_per_us_(rounds_per_us) {}

  // Returns after about that time on a CPU that runs the loop at that speed. Any thread.
  void spend(Duration time) const;

 private:
  double rounds_per_us_;
};

}  // namespace joust

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
