// SPDX-License-Identifier: MIT
#pragma once

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/socket.h>

#include <cerrno>
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

// Each round is a multiplication that waits for the one before: three or four cycles, wherever the loop lies.
inline void compute(std::uint64_t rounds) {
  std::uint64_t value = rounds;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    value = value * 6364136223846793005U + 1;
    asm volatile("" : "+r"(value));
  }
}

inline void pin_to(std::string_view cpu) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(number(cpu, CPU_SETSIZE - 1), &cpus);
  if (::sched_setaffinity(0, sizeof cpus, &cpus) < 0) fail("sched_setaffinity");
}

// "9000" is a port of the loopback address, "10.1.0.2:9000" one of that address.
inline sockaddr_in address_of(std::string_view place) {
  sockaddr_in address{};
  const std::size_t colon = place.rfind(':');
  const std::string_view port = colon == place.npos ? place : place.substr(colon + 1);
  const std::string host(colon == place.npos ? "127.0.0.1" : place.substr(0, colon));
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(number(port, 65'535)));
  if (::inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) fail("inet_pton");
  return address;
}

// With what joust sets on its sockets, so that all compare. Where the system refuses cubic, as it may to an
// ordinary user, both keep what the system gives.
inline int tcp_socket(int flags) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | flags, 0);
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5);
  return fd;
}

inline int listening_socket(std::string_view place, int flags) {
  const int listener = tcp_socket(flags);
  const sockaddr_in address = address_of(place);
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0) fail("bind");
  if (::listen(listener, 4096) < 0) fail("listen");
  return listener;
}

// Sends back what a peer has sent. Bytes that the socket does not take at once are lost. False when the peer
// has ended its stream, or has gone. An event without bytes is no end.
inline bool echo(int peer) {
  static thread_local char bytes[1 << 16];
  const ssize_t count = ::recv(peer, bytes, sizeof bytes, 0);
  if (count > 0) ::send(peer, bytes, static_cast<std::size_t>(count), MSG_NOSIGNAL);
  return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
}

}  // namespace bare
