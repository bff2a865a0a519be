// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "race/model/scenario.hpp"

// Numbers of threads that are given for several contestants at once: -t, --client-threads, and sweeps.
namespace joust::race {

// The numbers that the flags give; empty: none.
struct ThreadNumbers {
  std::optional<std::uint64_t> server{}, client{};
};

// Returns the error of such a number for one of the contestants, with the allowed numbers.
std::optional<std::string> check_threads(const ThreadNumbers& given, const Scenario& scenario,
                                         const Catalogue& catalogue);

// Describes, for the user, the servers for which the number of -t has no meaning.
std::vector<std::string> threads_remarks(const ThreadNumbers& given, const Scenario& scenario,
                                         const Catalogue& catalogue);

// Returns why an engine cannot have this number of threads; empty if it can.
std::optional<std::string> check_thread_number(const EngineRow& engine, std::uint64_t threads,
                                               const Catalogue& catalogue);

}  // namespace joust::race
