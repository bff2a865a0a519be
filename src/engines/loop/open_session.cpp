// SPDX-License-Identifier: MIT
#include "engines/loop/open_session.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <cstdint>

#include "base/fd.hpp"
#include "connection/account.hpp"
#include "net/address.hpp"
#include "net/target.hpp"

namespace joust {
namespace {

// The place of a stream connection in the server's account. To give way, it resets the connection: the engine
// then detects a reset, as if the peer had caused it. The socket may be closed while the place still exists.
class SocketPlace final : public ConnectionPlace {
 public:
  // Throws std::system_error if the account has no place for this peer.
  SocketPlace(Account& account, int socket, Time now);
  ~SocketPlace() override;

  void break_off() noexcept override;

 private:
  void give_way() noexcept override;

  Account& account_;
  const int socket_;
  const std::uint64_t identity_;  // another socket may get the same descriptor later
};

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

SocketPlace::SocketPlace(Account& account, int socket, Time now)
    : ConnectionPlace(peer_of(socket)), account_(account), socket_(socket), identity_(identity_of(socket)) {
  // A newcomer that has reset its connection has no address any more. It would pass for another address than
  // those that are here, for which active connections end.
  Shares& all = account_.connections();
  if (all.held() >= all.limit() && address() == PeerAddress::unknown && has_gone(socket)) throw no_place();
  if (!all.take(*this, now)) throw no_place();
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
