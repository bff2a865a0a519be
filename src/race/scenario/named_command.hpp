// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "race/model/scenario.hpp"

namespace joust::race {

// Reads contestants of --command, each as NAME=SHELL COMMAND. They get the standard client. The error has the
// text that is wrong, what is wrong with it, and what is allowed.
std::expected<std::vector<Contestant>, std::string> parse_commands(const std::vector<std::string>& texts,
                                                                   const Catalogue& catalogue);

}  // namespace joust::race
