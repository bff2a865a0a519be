// SPDX-License-Identifier: MIT
#pragma once

#include "engines/engine.hpp"

namespace joust {

// Whether the engine has the fault of that number in faults.py: the one that JOUST_FAULT names.
bool is_planted(int fault);

// The template engine with that fault.
const Engine& planted_engine();

}  // namespace joust
