// SPDX-License-Identifier: MIT
#include "race/trial/external.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "base/check.hpp"
#include "base/system/sockets.hpp"

namespace joust::race {
namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

Fd ipv4_socket() {
  Fd socket = stream_socket(AF_INET, 0);
  checked(socket.get(), "socket(AF_INET)");
  return socket;
}

}  // namespace

std::uint16_t free_port() {
  const Fd socket = ipv4_socket();
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  checked(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size), "bind(127.0.0.1:0)");
  checked(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size), "getsockname()");
  return ntohs(address.sin_port);
}

bool accepts(std::uint16_t port) {
  const Fd socket = ipv4_socket();
  const sockaddr_in address = loopback(port);
  return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace joust::race
