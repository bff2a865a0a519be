// SPDX-License-Identifier: MIT
#pragma once

#include "base/fd.hpp"
#include "engines/engine.hpp"
#include "engines/crew/crew.hpp"

namespace joust {

// A socket connected to the first of the target's endpoints that accepts. An empty one if none does, which is
// counted, or if the crew is told to end meanwhile. After `until` none is of use.
Fd dial_blocking(const Hosting& hosting, const Crew& crew, Time until);

}  // namespace joust
