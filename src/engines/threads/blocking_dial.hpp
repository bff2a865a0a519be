// SPDX-License-Identifier: MIT
#pragma once

#include "base/fd.hpp"
#include "engines/engine.hpp"
#include "engines/threads/crew.hpp"

namespace joust {

// A timeout of a socket that blocks: SO_RCVTIMEO or SO_SNDTIMEO.
void set_timeout(int socket, int option, Duration time);

// A socket, connected to the first of the target's endpoints that accepts; none, and counted, where no one
// does, or where the crew is told to end meanwhile.
Fd dial_blocking(const Hosting& hosting, const Crew& crew);

}  // namespace joust
