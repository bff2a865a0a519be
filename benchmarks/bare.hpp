// SPDX-License-Identifier: MIT
#pragma once

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/socket.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

// What the bare programs have in common: no more than the way to their sockets.
namespace bare {

[[noreturn]] inline void fail(const char* call) {
  std::perror(call);
  std::exit(EXIT_FAILURE);
}

// A number up to `most`; anything else ends the program.
inline unsigned number(std::string_view text, unsigned most) {
  unsigned value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec == std::errc() && read.ptr == text.data() + text.size() && value <= most) return value;
  std::fprintf(stderr, "'%s' is no number up to %u\n", std::string(text).c_str(), most);
  std::exit(2);
}

inline void pin_to(std::string_view cpu) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(number(cpu, CPU_SETSIZE - 1), &cpus);
  if (::sched_setaffinity(0, sizeof cpus, &cpus) < 0) fail("sched_setaffinity");
}

inline sockaddr_in loopback(std::string_view port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(number(port, 65'535)));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// With what joust sets on its sockets, so that all compare.
inline int tcp_socket(int flags) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | flags, 0);
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5) < 0) fail("TCP_CONGESTION");
  return fd;
}

inline int listening_socket(std::string_view port, int flags) {
  const int listener = tcp_socket(flags);
  const sockaddr_in address = loopback(port);
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0) fail("bind");
  if (::listen(listener, 4096) < 0) fail("listen");
  return listener;
}

}  // namespace bare
