// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "cli/common/command.hpp"
#include "race/run/plan.hpp"

// The engines and protocols that can be raced here, and the checks of a race before its first trial.
namespace joust {

// Returns the engines of the library and the protocols of the program. Tests which engines can run here.
race::Catalogue catalogue_of(const Program& program);

// Throws UsageError or std::invalid_argument for loads that could never run: more connections than a process
// may have open, or options that the protocol's client refuses for such a plan. Raises the limit of open
// files, which the trials inherit.
void ensure_possible(const Program& program, const race::Scenario& scenario, const race::Plan& plan);

// Throws std::runtime_error where servers and loads cannot reach each other, because the loopback device is
// down. Races of files do not need it.
void require_loopback(const race::Plan& plan);

// Throws std::runtime_error, with the reasons, where the machine lacks every engine that was asked for.
void require_contestant(const race::Plan& plan);

}  // namespace joust
