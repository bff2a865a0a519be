// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>

#include "measure/topology.hpp"
#include "race/model/scenario.hpp"

namespace joust::race {

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
