// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "race/model/result.hpp"

// The command lines of the two children of a trial.
namespace joust::race {

using Words = std::vector<std::string>;

// Returns the words of `joust serve ...`, without the program's name.
Words serve_words(const Scenario& scenario, const Case& one, const Entry& entry, const CpuPlan& cpus);

// The form in which the load is passed to the child: flags, for people, or a JSON document, which is exact.
enum class PlanAs { flags, document };

// Returns the words of `joust load ...`, without the program's name. `address` is where to connect, unused in
// process; `json` is the output file. Either is left out where it is empty.
Words load_words(const Scenario& scenario, const Case& one, const Entry& entry, const CpuPlan& cpus,
                 const std::string& address, const std::string& json, PlanAs how = PlanAs::flags);

}  // namespace joust::race
