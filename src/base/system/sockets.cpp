// SPDX-License-Identifier: MIT
#include "base/system/sockets.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <string>

namespace joust {

#ifndef __APPLE__

Fd stream_socket(int family, int flags) {
  return Fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
}

Fd datagram_socket(int family, int flags) {
  return Fd(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC | flags, 0));
}

int accept_socket(int listener, int flags) {
  return ::accept4(listener, nullptr, nullptr, flags);
}

#else

namespace {

// Sets the flags that other systems set in the call that makes the socket. An accepted socket is non-blocking
// if its listener is, so the flag is set both ways.
Fd with_flags(Fd socket, int flags) {
  const int on = 1;
  const bool done = socket.is_open() && ::fcntl(socket.get(), F_SETFD, FD_CLOEXEC) == 0 &&
                    ::fcntl(socket.get(), F_SETFL, (flags & SOCK_NONBLOCK) != 0 ? O_NONBLOCK : 0) == 0;
  if (!done) return {};
  // Fails with EINVAL for a socket that the peer has already reset: a send to it then fails before it
  // signals.
  ::setsockopt(socket.get(), SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
  return socket;
}

}  // namespace

Fd stream_socket(int family, int flags) {
  return with_flags(Fd(::socket(family, SOCK_STREAM, 0)), flags);
}

Fd datagram_socket(int family, int flags) {
  return with_flags(Fd(::socket(family, SOCK_DGRAM, 0)), flags);
}

int accept_socket(int listener, int flags) {
  return with_flags(Fd(::accept(listener, nullptr, nullptr)), flags).release();
}

#endif

bool is_loopback_address(std::string_view text) {
  if (text.contains('\0')) return false;
  const std::string address(text);  // ends with a zero
  in_addr four{};
  if (::inet_pton(AF_INET, address.c_str(), &four) == 1) return ntohl(four.s_addr) >> 24 == 127;
  in6_addr six{};
  if (::inet_pton(AF_INET6, address.c_str(), &six) != 1) return false;
  return IN6_IS_ADDR_LOOPBACK(&six) || (IN6_IS_ADDR_V4MAPPED(&six) && six.s6_addr[12] == 127);
}

}  // namespace joust
