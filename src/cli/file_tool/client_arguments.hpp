// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "cli/common/arguments.hpp"
#include "cli/common/command.hpp"
#include "cli/file_tool/guard_arguments.hpp"
#include "cli/file_tool/progress_meter.hpp"
#include "files/transfer/transfer.hpp"

// The file tool's access to a server, which `send`, `get` and `list` have in common.
namespace joust {

inline constexpr std::uint64_t kMostConnections = 256;  // connections of one client

// Returns the fastest of the engines that this machine can run and that have the role.
std::string fastest_engine(Role role, const Protocol& protocol);

// Adds -e of the file tool: without it, the fastest engine is used. `what` is for --help.
void add_engine(Command command, std::string& engine, const std::string& what);

struct ClientArguments {
  explicit ClientArguments(const Program& owner) : program(owner) {}

  const Program& program;
  std::string engine;
  std::uint64_t retries = 8;
  GuardArguments guard{GuardSide::client};

  void add_retries_to(Command command);

  // The result of run(), which runs the transfer over the wanted connections until its end or a signal.
  struct Run {
    double seconds = 0;
    bool interrupted = false;
  };
  Run run(transfer::Transfer& transfer, const std::string& address, transfer::DialPlan wanted,
          ProgressMeter::Kind meter) const;

 private:
  transfer::DialPlan possible(transfer::DialPlan dials, const Engine& chosen) const;
};

}  // namespace joust
