// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "net/stop.hpp"
#include "race/run/plan.hpp"
#include "race/trial/runner.hpp"

namespace joust {

// Makes a runner for the trials of a scenario, which outlives it.
using MakeRunner = std::function<std::unique_ptr<race::TrialRunner>(const race::Scenario&)>;

// Prepares a race whose rates are shares of a capacity: measures the capacities, sets the rates, subtracts
// the time of this measurement from the race's time, and plans again. Returns a child's message about invalid
// arguments; empty if it had none. Throws std::runtime_error where the capacity of a case cannot be measured.
std::string measure_capacities(race::Scenario& scenario, race::Plan& plan, const race::Catalogue& catalogue,
                               const MakeRunner& make_runner, race::RaceObserver& observer, const Stop& stop);

}  // namespace joust
