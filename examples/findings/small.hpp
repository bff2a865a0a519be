// SPDX-License-Identifier: MIT
#pragma once

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

// The way of the small programs to their sockets. Each program shows one thing and is nothing to build upon:
// bytes are lost where a peer reads too slowly.
namespace small {

[[noreturn]] inline void fail(const char* call) {
  std::perror(call);
  std::_Exit(EXIT_FAILURE);
}

// A number up to `most`; anything else ends the program.
inline unsigned number(std::string_view text, unsigned most) {
  unsigned value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec == std::errc() && read.ptr == text.data() + text.size() && value <= most) return value;
  std::fprintf(stderr, "'%s' is no number up to %u\n", std::string(text).c_str(), most);
  std::_Exit(2);
}

inline sockaddr_in address(std::uint32_t host, std::string_view port) {
  sockaddr_in made{};
  made.sin_family = AF_INET;
  made.sin_port = htons(static_cast<std::uint16_t>(number(port, 65'535)));
  made.sin_addr.s_addr = htonl(host);
  return made;
}

inline void bind_to(int fd, const sockaddr_in& place) {
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&place), sizeof place) < 0) fail("bind");
}

// Accepted sockets inherit TCP_NODELAY and the congestion control, which is that of joust where it is
// allowed.
inline int listening_socket(std::string_view port) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  const int on = 1;
  ::setsockopt(listener, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(listener, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5);
  bind_to(listener, address(INADDR_LOOPBACK, port));
  if (::listen(listener, 4096) < 0) fail("listen");
  return listener;
}

}  // namespace small
