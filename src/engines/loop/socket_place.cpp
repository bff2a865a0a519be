// SPDX-License-Identifier: MIT
#include "engines/loop/socket_place.hpp"

#include <sys/socket.h>

#include "net/address.hpp"

namespace joust {

SocketPlace::SocketPlace(Account& account, int socket, Time now)
    : ConnectionPlace(peer_of(socket)), account_(account), socket_(socket), port_(peer_port(socket)) {
  if (!account_.connections().take(*this, 1, now)) throw no_place();
}

SocketPlace::~SocketPlace() {
  account_.connections().free(*this);
}

void SocketPlace::give_way() noexcept {
  account_.tally().note(kGaveWay);
  break_off();
}

// With a reset, so that nothing is kept for the peer: it may never take it.
void SocketPlace::break_off() noexcept {
  if (peer_of(socket_) != address() || peer_port(socket_) != port_) return;  // closed already
  broken_off_.store(true, std::memory_order_relaxed);
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  ::shutdown(socket_, SHUT_RDWR);
}

}  // namespace joust
