// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/common/command_line.hpp"
#include "hosts/rank.hpp"
#include "joust/protocol.hpp"

namespace joust {
namespace race {
struct RaceResult;  // race/model/result.hpp
}

// The description of a program: it has the engines of the library, and protocols of its own.
struct Program {
  std::string name;
  std::vector<Protocol> protocols;
  std::vector<std::string> words{};   // the program's arguments
  std::optional<hosts::Rank> rank{};  // its place among the processes of mpirun

  // Returns the protocols of the plug-ins loaded so far, then those of the program.
  std::vector<const Protocol*> all_protocols() const;
  // Returns the protocol of that name, null if there is none.
  const Protocol* find_protocol(std::string_view wanted) const;
  // Returns whether the scenarios that come with joust fit the program: they use the protocols of joust.
  bool has_scenarios() const { return find_protocol("echo") != nullptr; }
};

// The exit codes of every sub-command. kInvalid: a measurement without a valid result, or no work was done.
enum ExitCode { kOk = 0, kRunError = 1, kUsage = 2, kInvalid = 3, kThreshold = 99 };

// Arguments that fit their types but not each other or this program. The message names the mistake and the
// remedy.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Writes one line to standard error, after the program's name.
void complain(const Program& program, std::string_view what);

// Add one sub-command each to the program; its callback sets `exit_code`. `program` and `exit_code` outlive
// the command line.
void add_engines(Command root, const Program& program, int& exit_code);
void add_protocols(Command root, const Program& program, int& exit_code);
void add_serve(Command root, const Program& program, int& exit_code);
void add_load(Command root, const Program& program, int& exit_code);
void add_race(Command root, const Program& program, int& exit_code);
void add_report(Command root, const Program& program, int& exit_code);
void add_compare(Command root, const Program& program, int& exit_code);
void add_merge(Command root, const Program& program, int& exit_code);
void add_history(Command root, const Program& program, int& exit_code);
void add_doctor(Command root, const Program& program, int& exit_code);
// Add `completions` and `man`, whose texts are those of the whole command line.
void add_manual(Command root, const Program& program, const CommandLine& line);
// Add `advise` and `scenarios`, for programs that have the protocols of joust's own scenarios.
void add_advise(Command root, const Program& program, int& exit_code);
void add_scenarios(Command root, const Program& program, int& exit_code);
// Add the file tool, for programs that have the protocol `file`.
void add_receive(Command root, const Program& program, int& exit_code);
void add_send(Command root, const Program& program, int& exit_code);
void add_get(Command root, const Program& program, int& exit_code);
void add_list(Command root, const Program& program, int& exit_code);

// Makes the last words of a race's text from its judged result.
using LastWords = std::function<std::string(const race::RaceResult&)>;

// Runs `race` with these words behind it, as if they had been typed. Returns its exit code. Throws what the
// sub-command throws.
int run_race(const Program& program, std::vector<std::string> words, LastWords last_words);

}  // namespace joust
