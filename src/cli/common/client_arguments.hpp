// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "cli/common/arguments.hpp"
#include "cli/common/command.hpp"
#include "cli/common/guard_arguments.hpp"
#include "cli/common/progress_meter.hpp"
#include "transfer/transfer.hpp"

// How the file tool's clients reach a server: what `send`, `get` and `list` have in common.
namespace joust {

inline constexpr std::uint64_t kMostConnections = 256;  // of one client

// The first of the engines that this machine can run and that have the role, the fastest one first.
std::string fastest_engine(Role role, const Protocol& protocol);

// -e of the file tool: without it, the fastest one. `what` is for --help.
void add_engine(Command command, std::string& engine, const std::string& what);

struct ClientArguments {
  explicit ClientArguments(const Program& owner) : program(owner) {}

  const Program& program;
  std::string engine;
  std::uint64_t retries = 8;
  GuardArguments guard{GuardSide::client};

  void add_retries_to(Command command);

  // Runs the transfer over so many connections, until it is over or a signal comes.
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
