// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <optional>
#include <string>

namespace joust::hosts {

// The environment variable with the number of the socket to the relay.
inline constexpr const char* kRelayVariable = "JOUST_RELAY";
// The environment variable with the key of the run, which no argument list ever has (seal.hpp).
inline constexpr const char* kKeyVariable = "JOUST_HOSTS_KEY";
// The environment variable of ranks whose mpirun was started by joust, the starter. The relay of rank 0
// reports to it on standard error: a line when all ranks have met and the work begins, and one that begins
// so, with the exit code of the work. The starter asks for the end of the work on the relay's standard input:
// each byte, and the end of the stream, is an interruption (Ctrl-C).
inline constexpr const char* kStarterVariable = "JOUST_STARTER";
inline constexpr const char* kBeginLine = "joust-relay: all ranks have met";
inline constexpr const char* kExitLine = "joust-relay: exit code ";

// Open MPI's variable of the folder in which its daemons keep their files, and the names that the starter
// gives such a folder. It is made on every host.
inline constexpr const char* kFolderVariable = "OMPI_MCA_orte_tmpdir_base";
inline constexpr const char* kFolderPattern = "/tmp/joust-mpi-XXXXXX";

// The place of this process among those that mpirun has started, from 0 on.
struct Rank {
  int rank = 0, size = 1;
  int relay = -1;            // the socket to its relay; -1: it has none yet
  bool on_one_host = false;  // mpirun has started all of them on this host
  std::string key{};         // of the run; empty: mpirun has not passed one on
};

// Returns the place of this process; nothing if mpirun has not started it, or no other process beside it.
// Removes it from the environment, and the key too: a process that this one starts has no place of its own.
std::optional<Rank> take_rank();

// Returns the path of the program joust-relay, beside this program or where it is installed. The error says
// how to get it.
std::expected<std::string, std::string> relay_program();

}  // namespace joust::hosts
