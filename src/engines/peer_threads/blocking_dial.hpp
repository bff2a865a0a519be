// SPDX-License-Identifier: MIT
#pragma once

#include "base/fd.hpp"
#include "engines/engine.hpp"
#include "engines/peer_threads/peer_threads.hpp"

namespace joust {

// Returns a socket connected to the first of the target's endpoints that accepts. Returns an empty one if no
// endpoint accepts, which is counted, or if the peers begin to drain meanwhile. Gives up at `until`, because
// a later connection is of no use.
Fd dial_blocking(const Hosting& hosting, const PeerThreads& peer_threads, Time until);

}  // namespace joust
