// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>

#include "race/scenario/scenario.hpp"

namespace joust::race {

// The CPUs that a list ("0", "0-1,3") names; none for "any" and the empty list. The list is a right one of a
// machine: see check_cpus_exist().
std::set<int> cpus_in(const std::string& list);

// What is wrong with CPUs that were asked for and are not among `allowed`.
std::optional<std::string> check_cpus_exist(const CpuPlan& plan, std::span<const int> allowed);

// Where the children run. What the scenario leaves open: as many CPUs as the contestants have threads, server
// and client apart, where there are enough; "any" for both where there is one CPU only.
CpuPlan choose_cpus(const Scenario& scenario, std::span<const int> allowed);

}  // namespace joust::race
