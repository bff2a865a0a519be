// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "race/run/plan.hpp"

namespace joust::report {

// Describes what a race would do: its commands and the order of every round. `program` is the program that
// the children are started as. `address`: the one of the servers' host on the network; empty for loopback.
std::string race_plan(const race::Scenario& scenario, const race::Plan& plan, const race::CpuPlan& cpus,
                      const std::string& program, const std::string& address = {});

}  // namespace joust::report
