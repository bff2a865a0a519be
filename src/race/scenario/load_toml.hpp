// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "race/model/scenario.hpp"
#include "race/scenario/toml_reader.hpp"

namespace joust::race {

// Reads the table [load], which may be absent: its values replace those of the case.
void read_load(const toml::table* table, const std::string& path, Case& one, Problems& problems);

}  // namespace joust::race
