// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "cli/common/command_line.hpp"
#include "joust/protocol.hpp"

namespace joust {

// What a program offers: the engines are those of the library, the protocols its own.
struct Program {
  std::string name;
  std::vector<Protocol> protocols;
  std::vector<std::string> words{};  // as it was called

  const Protocol* find_protocol(std::string_view wanted) const;
  // Whether the scenarios that come with joust are for it: they speak the protocols of joust.
  bool has_scenarios() const { return find_protocol("echo") != nullptr; }
};

// The exit codes of every sub-command. kInvalid: a measurement that tells nothing, or nothing was done.
enum ExitCode { kOk = 0, kRunError = 1, kUsage = 2, kInvalid = 3, kThreshold = 99 };

// Arguments that fit their types but not each other or this program; says what is wrong and what to do.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// One line on standard error, under the program's name.
void complain(const Program& program, std::string_view what);

// Each adds one sub-command to the program; its callback sets `exit_code`. `program` and `exit_code` outlive
// the command line.
void add_engines(Command root, const Program& program, int& exit_code);
void add_protocols(Command root, const Program& program, int& exit_code);
void add_serve(Command root, const Program& program, int& exit_code);
void add_load(Command root, const Program& program, int& exit_code);
void add_race(Command root, const Program& program, int& exit_code);
// For programs that have the protocols of joust's own scenarios.
void add_scenarios(Command root, const Program& program, int& exit_code);
// The file tool, for programs that have the protocol `file`.
void add_receive(Command root, const Program& program, int& exit_code);
void add_send(Command root, const Program& program, int& exit_code);
void add_get(Command root, const Program& program, int& exit_code);
void add_list(Command root, const Program& program, int& exit_code);

}  // namespace joust
