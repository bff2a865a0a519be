// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>

#include "race/model/scenario.hpp"

namespace joust::race {

// Returns the CPUs in a list ("0", "0-1,3"); none for "any" and the empty list. The list must be valid: see
// check_cpus_exist().
std::set<int> cpus_in(const std::string& list);

// Describes a list: "CPU 0-1", or "any CPU".
std::string cpus_text(const std::string& list);

// Returns an error message if CPUs in the plan are not in `allowed`.
std::optional<std::string> check_cpus_exist(const CpuPlan& plan, std::span<const int> allowed);

}  // namespace joust::race
