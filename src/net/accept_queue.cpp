// SPDX-License-Identifier: MIT
#include "net/accept_queue.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace joust {

#ifdef __linux__

// Reads tcp_info. For a listener the kernel stores the length of the queue in the field that a connection has
// for its unacknowledged segments, and the granted backlog in the field for sacked segments.
AcceptQueue accept_queue(int listener) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(listener, IPPROTO_TCP, TCP_INFO, &info, &size) < 0) return {};
  return {info.tcpi_unacked, static_cast<int>(info.tcpi_sacked)};
}

#elif defined(SO_LISTENQLEN)  // FreeBSD

AcceptQueue accept_queue(int listener) {
  AcceptQueue queue;
  int number = 0;
  socklen_t size = sizeof number;
  if (::getsockopt(listener, SOL_SOCKET, SO_LISTENQLEN, &number, &size) == 0)
    queue.length = static_cast<std::size_t>(number);
  if (::getsockopt(listener, SOL_SOCKET, SO_LISTENQLIMIT, &number, &size) == 0) queue.backlog = number;
  return queue;
}

#else

AcceptQueue accept_queue(int /*listener*/) {
  return {};
}

#endif

}  // namespace joust
