// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <vector>

#include "net/stop.hpp"
#include "race/trial/runner.hpp"

namespace joust::race {

// Returns how long an entry warms up in generations after the first, which tells the length of a turn: a
// server of joust is as fast after a moment. Commands may need the whole time, as one that compiles itself
// does.
Duration later_warmup(const Entry& entry, const LoadPlan& load, bool is_given);

// The limits of a chosen length of a turn. The other load of a shared machine changes within a second, so the
// shortest turn that is many times the latency measures best.
inline constexpr Duration kShortestChosenTurn = std::chrono::milliseconds(20);
inline constexpr Duration kLongestChosenTurn = std::chrono::milliseconds(500);
inline constexpr int kLatenciesInTurn = 10;
inline constexpr std::uint64_t kFewestTurns = 5;  // turns of a generation
// The shortest turn of an open loop. Its tail of the latency is compared, and the end of a turn cuts off a
// longer stall.
inline constexpr Duration kShortestOpenTurn = std::chrono::milliseconds(100);
inline constexpr double kMessagesInOpenTurn = 100;
// Nor may a turn of an open loop be short beside the longest waits: it begins without a queue, and those who
// would wait behind its end are missing.
inline constexpr int kWaitsInOpenTurn = 20;

// Return the length of a turn, and its ramp, for contestants of which the slowest answers a message after
// `latency` on average. The ramp is two round trips, in which connections get out of step, and at least
// kShortestRamp, in which caches fill and threads wake.
Duration turn_length(Duration latency);
inline constexpr Duration kShortestRamp = std::chrono::milliseconds(1);
Duration ramp_length(Duration latency);

struct GenerationPlan {
  std::uint64_t seed = 0;
  std::uint64_t number = 0;  // number of the generation, from 1
  Time race_began{};         // what turns count their begin from
  Duration window{};         // the least sum of the windows of a contestant's turns
  Duration warmup{};         // a turn of each contestant that is not recorded; a contestant may have its own
  bool warms_up_again = true;  // as long in each generation; else joust's own servers only in the first one
  // The number of turns of each contestant; empty: as many as the window needs, and kFewestTurns at least.
  std::optional<std::uint64_t> turns{};
  std::optional<Time> deadline{};  // no further round of turns begins after it
  // The length of a turn. Empty: chosen after the warm-up. In an open loop it is the least length. If the
  // number of messages of a turn is to be chosen, it is the length that turns are to have.
  std::optional<Duration> turn{};
  // The ramp of turns, from the first generation of a closed loop on: all contestants have the same.
  std::optional<Duration> ramp{};
  bool counted = false;        // a turn is a number of messages of each connection
  std::uint64_t messages = 0;  // number of messages; 0: chosen after the warm-up
  // The time of a message, if the first generation finds that counted turns take too long, or the length that
  // turns of an open loop would need, if that is too long. Then nothing was recorded.
  std::optional<Duration> too_long{};
};

// Runs one generation from the first process to the last: starts all contestants, warms each up, and gives
// turns to all in random order until every contestant's windows are long enough. A contestant that fails
// takes no further turn. A host that is lost ends the generation. Returns a trial for each contestant, in
// their order, with their levels. Sets the fields that `plan` leaves to choose. Where
// counted turns, or those that an open loop needs, take longer than kLongestChosenTurn, the first generation
// ends at once.
std::vector<Trial> run_generation(Generation& generation, const std::vector<TrialOrder>& orders,
                                  GenerationPlan& plan, const Stop& stop);

}  // namespace joust::race
