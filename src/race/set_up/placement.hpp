// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "measure/affinity.hpp"
#include "race/model/scenario.hpp"

namespace joust::race {

// Returns the CPUs in a list ("0", "0-1,3"); none for "any" and the empty list. The list must be valid: see
// check_cpus_exist().
std::set<int> cpus_in(const std::string& list);

// Describes a list: "CPU 0-1", or "any CPU".
std::string cpus_text(const std::string& list);

// Returns an error message if CPUs in the plan are not in `allowed`.
std::optional<std::string> check_cpus_exist(const CpuPlan& plan, std::span<const int> allowed);

// Numbers of threads that are given for several contestants at once: -t, --client-threads, and sweeps.

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

// Chooses the CPUs of the children among those that this process may use.
//
// A side that the scenario does not pin gets a core for each of its loops. Server and client are on different
// cores of one kind (the fastest of which there are two), in one socket, and never on two hardware threads of
// one core. Where there are fewer cores than loops, both sides have a share of the cores by their loops, at
// least one, and use the cores' other hardware threads too. Where only one core is left, the other side runs
// beside it on that core; where only one CPU is left, neither is pinned ("any"). `remarks` says what could
// not be kept.
CpuPlan choose_cpus(const Scenario& scenario, std::span<const CpuPlace> allowed);

// Chooses the CPUs of a side that has a host for itself. `given`: those of the scenario; empty: one core of
// one kind and socket for each of its loops, as far as there are so many.
std::string choose_cpus_alone(const std::string& given, std::size_t loops, std::span<const CpuPlace> allowed);

// Gives clients as many event loops as cores are left for them, where the scenario does not give a number: up
// to two for each loop of a server, so that the server is the limit. `servers`: the cores of `allowed` that
// servers take, where these run there; 0 where they have another host. Call before choose_cpus().
void choose_client_threads(Scenario& scenario, const Catalogue& catalogue, std::span<const CpuPlace> allowed,
                           std::size_t servers);

// Returns the most event loops that a side of a contestant has.
std::uint64_t most_loops(const Scenario& scenario, EngineChoice Contestant::*side);

}  // namespace joust::race
