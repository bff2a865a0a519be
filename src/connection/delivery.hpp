// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "joust/session.hpp"

namespace joust {

// Passes as much of `chunk` to a session as it wants: to on_bytes, or into the file it has chosen. Returns
// the number of bytes taken.
std::size_t deliver(Bytes chunk, Session& session, Time now);

}  // namespace joust
