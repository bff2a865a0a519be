// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "engines/engine.hpp"

namespace joust::conformance {

// The engines that the suite is run on. Each program that is linked from the suite defines it once.
std::vector<const Engine*> tested_engines();

}  // namespace joust::conformance
