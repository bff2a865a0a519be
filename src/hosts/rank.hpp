// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <optional>
#include <string>

namespace joust::hosts {

// The environment variable with the number of the socket to the relay.
inline constexpr const char* kRelayVariable = "JOUST_RELAY";
// The environment variable of ranks whose mpirun was started by joust, and the begin of the line with which
// the relay of rank 0 reports to it, on standard error, the exit code of the work.
inline constexpr const char* kStarterVariable = "JOUST_STARTER";
inline constexpr const char* kExitLine = "joust-relay: exit code ";

// The place of this process among those that mpirun has started, from 0 on.
struct Rank {
  int rank = 0, size = 1;
  int relay = -1;            // the socket to its relay; -1: it has none yet
  bool on_one_host = false;  // mpirun has started all of them on this host
};

// Returns the place of this process; nothing if mpirun has not started it, or no other process beside it.
// Removes it from the environment: a process that this one starts has no place of its own.
std::optional<Rank> take_rank();

// Returns the path of the program joust-relay, beside this program or where it is installed. The error says
// how to get it.
std::expected<std::string, std::string> relay_program();

}  // namespace joust::hosts
