// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <string>

#include "race/model/scenario.hpp"

namespace joust::race {

// Reads a scenario file. The error is one line per problem, each "file:line:column: key 'x': ...".
std::expected<Scenario, std::string> read_scenario(const std::string& path, const Catalogue& catalogue,
                                                   Size size = Size::usual);

}  // namespace joust::race
