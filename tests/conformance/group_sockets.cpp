// SPDX-License-Identifier: MIT
#include "conformance/group_sockets.hpp"

#include <sys/socket.h>

#include "base/check.hpp"

namespace joust::conformance {
namespace {

Fd bound(const Endpoint& where, bool shared) {
  Fd socket(checked(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket()"));
  const int on = shared ? 1 : 0;
  checked(::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), "setsockopt(SO_REUSEADDR)");
  checked(::bind(socket.get(), where.raw(), where.size), "bind()");
  return socket;
}

}  // namespace

Fd group_sender() {
  Fd socket = bound(loopback().address, false);
  send_on(loopback(), socket.get());
  return socket;
}

Fd group_member(const Endpoint& group) {
  Fd socket = bound(group, true);
  join_group(group, loopback(), socket.get());
  return socket;
}

}  // namespace joust::conformance
