// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "race/scenario/scenario.hpp"
#include "race/scenario/toml_reader.hpp"

namespace joust::race {

// Reads a table [load] into `load`. Overwrites only the values given, so that a case needs only its
// differences. No table changes nothing.
void read_load(const toml::table* table, const std::string& path, LoadPlan& load, Problems& problems);

}  // namespace joust::race
