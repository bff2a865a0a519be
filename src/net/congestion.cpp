// SPDX-License-Identifier: MIT
#include "net/congestion.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace joust {

#ifdef TCP_CONGESTION

int set_congestion(int socket, const std::string& name) {
  return ::setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.data(), static_cast<socklen_t>(name.size()));
}

std::optional<std::string> congestion_of(int socket) {
  std::array<char, 32> name{};
  socklen_t size = name.size() - 1;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.data(), &size) != 0) return std::nullopt;
  return name.data();
}

#else

int set_congestion(int /*socket*/, const std::string& /*name*/) {
  errno = ENOPROTOOPT;
  return -1;
}

std::optional<std::string> congestion_of(int /*socket*/) {
  return std::nullopt;
}

#endif

}  // namespace joust
