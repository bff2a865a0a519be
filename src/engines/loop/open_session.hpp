// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "connection/stream_connection.hpp"
#include "engines/engine.hpp"
#include "joust/time.hpp"

namespace joust {

// Makes the session of an established connection. Throws std::system_error if the server's account has no
// place for the peer. Called by any thread.
void open_session(const Hosting& hosting, int socket, std::optional<StreamConnection>& connection, Time now);

// The same for a peer of LoopCore. Peers of another kind have an overload of their own.
template <typename Peer>
void open_session(const Hosting& hosting, Peer& peer, Time now) {
  open_session(hosting, peer.socket.get(), peer.connection, now);
}

}  // namespace joust
