// SPDX-License-Identifier: MIT
#include "engines/loop/opening.hpp"

#include "net/address.hpp"
#include "net/target.hpp"

namespace joust {

void open_session(const Hosting& hosting, int socket, std::optional<StreamConnection>& connection, Time now) {
  Opening opening;
  if (hosting.target != nullptr)
    hosting.target->note_facts(socket);
  else
    opening.peer = peer_of(socket);
  connection.emplace(hosting.service.open(opening), hosting.limits, hosting.tally, now);
}

}  // namespace joust
