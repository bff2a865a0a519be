// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>

#include "connection/stream_connection.hpp"
#include "engines/engine.hpp"
#include "joust/time.hpp"

namespace joust {

// Its place in the server's account, or null. Throws std::system_error if there is none for the peer.
std::shared_ptr<ConnectionPlace> place_for(const Hosting& hosting, int socket, Time now);
// What the service is told of a connection.
Opening opening_of(const Hosting& hosting, int socket, const std::shared_ptr<ConnectionPlace>& place);

// The connection of this socket is established: makes its session. Any thread.
void open_session(const Hosting& hosting, int socket, std::optional<StreamConnection>& connection, Time now);

// The same for a peer of LoopCore. Peers of another kind have an overload of their own.
template <typename Peer>
void open_session(const Hosting& hosting, Peer& peer, Time now) {
  open_session(hosting, peer.socket.get(), peer.connection, now);
}

}  // namespace joust
