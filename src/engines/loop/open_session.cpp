// SPDX-License-Identifier: MIT
#include "engines/loop/open_session.hpp"

#include "engines/loop/socket_place.hpp"
#include "net/address.hpp"
#include "net/target.hpp"

namespace joust {
namespace {

// Returns the connection's place in the server's account; null if the server has no account. Throws
// std::system_error if the account has no place for the peer.
std::shared_ptr<ConnectionPlace> place_for(const Hosting& hosting, int socket, Time now) {
  return hosting.account == nullptr ? nullptr : std::make_shared<SocketPlace>(*hosting.account, socket, now);
}

// Returns the facts of a connection that the service gets.
ConnectionInfo connection_info(const Hosting& hosting, int socket,
                               const std::shared_ptr<ConnectionPlace>& place) {
  if (place) return {.peer = place->address(), .connection = place};
  return {.peer = hosting.target == nullptr ? peer_of(socket) : PeerAddress::unknown};
}

}  // namespace

void open_session(const Hosting& hosting, int socket, std::optional<StreamConnection>& connection, Time now) {
  if (hosting.target != nullptr) hosting.target->note_facts(socket);
  auto place = place_for(hosting, socket, now);
  auto session = hosting.service.open(connection_info(hosting, socket, place));
  connection.emplace(std::move(session), hosting.limits, hosting.tally, now, std::move(place));
}

}  // namespace joust
