// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "race/scenario/overrides.hpp"

// Numbers of threads that are given for several contestants at once: -t, --client-threads, and sweeps.
namespace joust::race {

// Returns the error of such a number for one of the contestants, with the allowed numbers.
std::optional<std::string> check_threads(const Overrides& given, const Scenario& scenario,
                                         const Catalogue& catalogue);

// Describes, for the user, the servers for which the number of -t has no meaning.
std::vector<std::string> threads_remarks(const Overrides& given, const Scenario& scenario,
                                         const Catalogue& catalogue);

// Returns why an engine cannot have this number of threads; empty if it can.
std::optional<std::string> check_thread_number(const EngineRow& engine, std::uint64_t threads,
                                               const Catalogue& catalogue);

}  // namespace joust::race
