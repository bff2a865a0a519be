// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "race/scenario/overrides.hpp"

// Numbers of threads that are given for several contestants at once: -t, --client-threads, and sweeps.
namespace joust::race {

// What is wrong with such a number for one of the contestants, and what is allowed.
std::optional<std::string> check_threads(const Overrides& given, const Scenario& scenario,
                                         const Catalogue& catalogue);

// Servers to which the number of -t means nothing, in words for the user.
std::vector<std::string> threads_remarks(const Overrides& given, const Scenario& scenario,
                                         const Catalogue& catalogue);

// Why an engine cannot have this number of threads; empty if it can.
std::optional<std::string> check_thread_number(const EngineRow& engine, std::uint64_t threads,
                                               const Catalogue& catalogue);

}  // namespace joust::race
