// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "connection/stream_connection.hpp"
#include "engines/engine.hpp"
#include "joust/time.hpp"

namespace joust {

// The connection of this socket is established: makes its session. Any thread.
void open_session(const Hosting& hosting, int socket, std::optional<StreamConnection>& connection, Time now);

}  // namespace joust
