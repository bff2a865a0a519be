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

// How the load is told what to send: by flags, for people, or by a JSON document, which is exact.
enum class PlanAs { flags, document };

// `joust load ...`, likewise. `address` is where to connect, unused in process; `json` is the output file.
Words load_words(const Scenario& scenario, const Case& one, const Entry& entry, const CpuPlan& cpus,
                 const std::string& address, const std::string& json, PlanAs how = PlanAs::flags);

// The words quoted for a shell.
std::string shell_text(const Words& words);

}  // namespace joust::race
