// SPDX-License-Identifier: MIT
#include "net/accept_queue.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace joust {

#ifdef __linux__

// For a listener the kernel keeps the length of the queue where a connection keeps its count of segments
// without an acknowledgement, and the granted backlog in the place of the count of sacked segments.
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
