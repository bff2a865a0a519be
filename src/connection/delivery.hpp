// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "joust/session.hpp"

namespace joust {

// Gives a session as much of `chunk` as it wants: to on_bytes, or into the file it has chosen. Returns how
// many bytes were taken.
std::size_t deliver(Bytes chunk, Session& session, Time now);

}  // namespace joust
