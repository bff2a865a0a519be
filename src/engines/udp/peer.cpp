// SPDX-License-Identifier: MIT
// Needs Linux.
#include "engines/udp/peer.hpp"

#include <utility>

#include "connection/account.hpp"

namespace joust {

UdpPlace::UdpPlace(Shares& places, PeerAddress address, UdpNotice& notice, Time now)
    : Holder(address), places_(places), notice_(notice) {
  if (!places_.take(*this, now)) throw no_place();
}

void open_session(const Hosting& hosting, UdpPeer& peer, Time now) {
  ConnectionInfo info{.delivery = peer.link.delivery};
  if (peer.own)
    hosting.target->note_facts(peer.socket.get());
  else
    info.peer = peer_address(peer.address);
  auto session = peer.session ? std::move(peer.session) : hosting.service.open(info);
  peer.connection.emplace(std::move(session), peer.link, hosting.limits, hosting.tally, now);
}

}  // namespace joust
