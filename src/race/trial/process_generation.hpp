// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "race/trial/process_setup.hpp"
#include "race/trial/runner.hpp"

namespace joust::race {

// Makes a generation of real processes. It keeps a reference to `setup`.
std::unique_ptr<Generation> process_generation(const ProcessSetup& setup,
                                               const std::vector<TrialOrder>& orders);

}  // namespace joust::race
