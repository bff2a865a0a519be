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

// `joust load ...`, likewise. `address` and `json` are where to connect and where to write; in process there
// is nowhere to connect.
Words load_words(const Scenario& scenario, const Case& one, const Entry& entry, const CpuPlan& cpus,
                 const std::string& address, const std::string& json);

// An external contestant's command with its port filled in.
std::string external_command(const Contestant& contestant, const std::string& port);

// Words as a shell would need them.
std::string shell_text(const Words& words);

// "300ms", "1s": the exact time as parse_duration() reads it.
std::string duration_word(Duration time);

}  // namespace joust::race
