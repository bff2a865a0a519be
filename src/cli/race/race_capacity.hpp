// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "cli/common/command.hpp"
#include "net/stop.hpp"
#include "race/run/plan.hpp"
#include "race/trial/runner.hpp"

namespace joust {

// Prepares a race whose rates are shares of a capacity: measures the capacities, sets the rates, subtracts
// the time of this measurement from the race's time, and plans again. Returns a child's message about invalid
// arguments; empty if it had none. Throws std::runtime_error where the capacity of a case cannot be measured.
std::string measure_capacities(const Program& program, race::Scenario& scenario, race::Plan& plan,
                               const race::CpuPlan& cpus, race::RaceObserver& observer, const Stop& stop);

}  // namespace joust
