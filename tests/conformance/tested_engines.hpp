// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "engines/engine.hpp"

namespace joust::conformance {

// The engines that the suite tests. Each program linked with the suite defines it once.
std::vector<const Engine*> tested_engines();

}  // namespace joust::conformance
