// SPDX-License-Identifier: MIT
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "race/model/catalogue.hpp"
#include "race/model/scenario.hpp"

namespace joust::race {

// Replaces each engine of the scenario by one contestant for each transport, which are words such as "tcp". A
// command listens where it does, and stays as it is.
std::expected<void, std::string> sweep_transports(const std::vector<std::string>& transports,
                                                  Scenario& scenario, const Catalogue& catalogue);

}  // namespace joust::race
