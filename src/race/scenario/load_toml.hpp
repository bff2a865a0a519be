// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "race/scenario/scenario.hpp"
#include "race/scenario/toml_reader.hpp"

namespace joust::race {

// The table [load], which may be absent: what it says replaces what the case has.
void read_load(const toml::table* table, const std::string& path, Case& one, Problems& problems);

}  // namespace joust::race
