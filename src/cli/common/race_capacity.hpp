// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "cli/common/command.hpp"
#include "net/stop.hpp"
#include "race/plan.hpp"

namespace joust {

// For a race whose rates are shares of a capacity: measures the capacities, sets the rates, takes the time
// that it took off the race's, and plans anew. Returns a child's message about invalid arguments; empty if
// there was none. Throws std::runtime_error where the capacity of a case cannot be measured.
std::string measure_capacities(const Program& program, race::Scenario& scenario, race::Plan& plan,
                               const race::CpuPlan& cpus, const Stop& stop);

}  // namespace joust
