// SPDX-License-Identifier: MIT
#include "engines/loop/socket_place.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include "base/fd.hpp"
#include "net/address.hpp"

namespace joust {
namespace {

// Returns a number that no other socket of this machine has; on other systems than Linux, a number that no
// other connection has.
std::uint64_t identity_of(int socket) {
#ifdef SO_COOKIE
  std::uint64_t cookie = 0;
  socklen_t size = sizeof cookie;
  return ::getsockopt(socket, SOL_SOCKET, SO_COOKIE, &cookie, &size) == 0 ? cookie : 0;
#else
  return static_cast<std::uint64_t>(peer_of(socket)) ^ peer_port(socket);
#endif
}

}  // namespace

SocketPlace::SocketPlace(Account& account, int socket, Time now)
    : ConnectionPlace(peer_of(socket)), account_(account), socket_(socket), identity_(identity_of(socket)) {
  if (!account_.connections().take(*this, now)) throw no_place();
}

SocketPlace::~SocketPlace() {
  account_.connections().free(*this);
}

void SocketPlace::give_way() noexcept {
  account_.tally().note(kGaveWay);
  break_off();
}

// Resets the connection, so that nothing is kept for a peer that may never take it. An engine detects a reset
// even while it wants no input. Unix sockets have no reset, and are shut down. A library may have closed the
// socket before the place is freed, and another thread may get its number at any moment: a descriptor of its
// own refers to one socket from the check to the reset. Without a free descriptor the number has to do.
void SocketPlace::break_off() noexcept {
  const Fd own(::fcntl(socket_, F_DUPFD_CLOEXEC, 0));
  const int socket = own.is_open() ? own.get() : socket_;
  if (identity_of(socket) != identity_) return;  // closed already
  broken_off_.store(true, std::memory_order_relaxed);
  sockaddr no_peer{};
  no_peer.sa_family = AF_UNSPEC;
  if (::connect(socket, &no_peer, sizeof no_peer) != 0) ::shutdown(socket, SHUT_RDWR);
}

}  // namespace joust
