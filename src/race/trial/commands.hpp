// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "race/result.hpp"

// The command lines of the two children of a trial.
namespace joust::race {

using Words = std::vector<std::string>;

// `joust serve ...`, without the program's name.
Words serve_words(const Scenario& scenario, const Case& one, const Entry& entry, const CpuPlan& cpus);

// `joust load ...`, likewise. `address` is where to connect, unused in process; `json` is the output file.
Words load_words(const Scenario& scenario, const Case& one, const Entry& entry, const CpuPlan& cpus,
                 const std::string& address, const std::string& json);

// What takes the place of {port} and so on in a contestant's shell commands.
struct Places {
  std::string port{}, from{}, into{};
  std::string last{};   // the name of the last file
  std::string bytes{};  // of all files together
  std::string joust{};  // the path of this program
};

std::string filled(std::string command, const Places& places);

// The words quoted for a shell.
std::string shell_text(const Words& words);

}  // namespace joust::race
