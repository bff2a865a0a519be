// SPDX-License-Identifier: MIT
#include "base/system/sockets.hpp"

#include <fcntl.h>

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

}  // namespace joust
