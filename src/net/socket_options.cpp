// SPDX-License-Identifier: MIT
#include "net/socket_options.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>

#include "base/check.hpp"

namespace joust {
namespace {

int domain_of(int socket) {
  int domain = 0;
  socklen_t size = sizeof domain;
  checked(::getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &size), "getsockopt(SO_DOMAIN)");
  return domain;
}

void set(int socket, int level, int option, int value, const char* name) {
  checked(::setsockopt(socket, level, option, &value, sizeof value), "setsockopt({}, {})", name, value);
}

std::optional<int> get(int socket, int level, int option) {
  int value = 0;
  socklen_t size = sizeof value;
  if (::getsockopt(socket, level, option, &value, &size) < 0) return std::nullopt;
  return value;
}

}  // namespace

void apply(const SocketOptions& options, int socket) {
  if (options.send_buffer > 0) set(socket, SOL_SOCKET, SO_SNDBUF, options.send_buffer, "SO_SNDBUF");
  if (options.receive_buffer > 0) set(socket, SOL_SOCKET, SO_RCVBUF, options.receive_buffer, "SO_RCVBUF");
  if (domain_of(socket) == AF_UNIX) return;
  set(socket, IPPROTO_TCP, TCP_NODELAY, options.nodelay ? 1 : 0, "TCP_NODELAY");
  if (!options.congestion.empty()) {
    // Refused without the right to use it (EPERM) or where the module is missing (ENOENT): the results tell.
    ::setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, options.congestion.data(),
                 static_cast<socklen_t>(options.congestion.size()));
  }
}

SocketFacts read_back(int socket) {
  SocketFacts facts;
  facts.send_buffer = get(socket, SOL_SOCKET, SO_SNDBUF);
  facts.receive_buffer = get(socket, SOL_SOCKET, SO_RCVBUF);
  if (domain_of(socket) == AF_UNIX) return facts;
  if (const auto nodelay = get(socket, IPPROTO_TCP, TCP_NODELAY)) facts.nodelay = *nodelay != 0;
  std::array<char, 32> name{};
  socklen_t size = name.size() - 1;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.data(), &size) == 0)
    facts.congestion = name.data();
  if (get(socket, SOL_SOCKET, SO_ACCEPTCONN).value_or(0) != 0) {
    // For a listener the kernel keeps the granted backlog where a connection keeps its count of sacked
    // segments.
    tcp_info info{};
    size = sizeof info;
    if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) == 0)
      facts.backlog = static_cast<int>(info.tcpi_sacked);
  }
  return facts;
}

}  // namespace joust
