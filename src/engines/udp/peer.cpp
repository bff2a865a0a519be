// SPDX-License-Identifier: MIT
// Needs Linux.
#include "engines/udp/peer.hpp"

#include <array>
#include <cerrno>
#include <utility>

#include "base/system/sockets.hpp"
#include "connection/account.hpp"
#include "engines/loop/ready_io.hpp"

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

ssize_t receive_datagram(int fd, std::span<std::byte> buffer, Endpoint& from) {
  from.size = sizeof from.storage;
  auto* const address = reinterpret_cast<sockaddr*>(&from.storage);
  return ::recvfrom(fd, buffer.data(), buffer.size(), MSG_DONTWAIT, address, &from.size);
}

ssize_t send_datagram(int fd, const DatagramOut& datagram, const Endpoint* to) {
  constexpr int kFlags = MSG_DONTWAIT | MSG_NOSIGNAL;
  const sockaddr* const address = to == nullptr ? nullptr : to->raw();
  const socklen_t size = to == nullptr ? 0 : to->size;
  if (datagram.tail.empty())
    return ::sendto(fd, datagram.head.data(), datagram.head_size, kFlags, address, size);
  std::array<iovec, 2> pieces = pieces_of(datagram);
  msghdr message = message_of(pieces);
  message.msg_name = const_cast<sockaddr*>(address);
  message.msg_namelen = size;
  return ::sendmsg(fd, &message, kFlags);
}

bool is_of_network(int error) {
  switch (error) {
    case ECONNREFUSED:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case EHOSTDOWN:
    case ENETDOWN:
    case EPROTO:
    case ENOPROTOOPT:
    case EMSGSIZE:  // a packet was too large for the way
    case EPERM:     // a firewall refused it
      return true;
    default:
      return false;
  }
}

}  // namespace joust
