// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "race/scenario.hpp"

namespace joust::race {

// How many CPUs a list ("0", "0-1,3") names; 0 for "any" and the empty list.
std::size_t count_cpus(const std::string& list);

// Where the children run. What the scenario leaves open: as many CPUs as the contestants have threads, server
// and client apart, where there are enough; "any" for both where there is one CPU only.
CpuPlan choose_cpus(const Scenario& scenario, std::span<const int> allowed);

}  // namespace joust::race
