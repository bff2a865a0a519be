// SPDX-License-Identifier: MIT
#include "net/socket_options.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <optional>
#include <string>

#include "base/check.hpp"
#include "base/fd.hpp"
#include "base/system/sockets.hpp"
#include "net/listener.hpp"

#ifdef __linux__
#include <linux/sock_diag.h>
#endif

namespace joust {
namespace {

// Sets the congestion control of a TCP socket (TCP_CONGESTION). Fails with ENOPROTOOPT where the system
// offers no choice, as on macOS. Returns the result of setsockopt().
int set_congestion(int socket, const std::string& name);

std::optional<std::string> congestion_of(int socket);

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

void set(int socket, int level, int option, int value, const char* name) {
  checked(::setsockopt(socket, level, option, &value, sizeof value), "setsockopt({}, {})", name, value);
}

std::optional<int> get(int socket, int level, int option) {
  int value = 0;
  socklen_t size = sizeof value;
  if (::getsockopt(socket, level, option, &value, &size) < 0) return std::nullopt;
  return value;
}

std::optional<int> family_of(int socket) {
#ifdef SO_DOMAIN
  return get(socket, SOL_SOCKET, SO_DOMAIN);
#else  // macOS; also right before the socket is bound
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &size) < 0) return std::nullopt;
  return own.ss_family;
#endif
}

// Reads a list in /proc/sys/net/ipv4, in the kernel's form: "reno cubic".
std::string kernel_list(const std::string& name) {
  std::string line;
  std::getline(std::ifstream("/proc/sys/net/ipv4/" + name) >> std::ws, line);
  return line.empty() ? "nothing it would name" : line;
}

// The size of a receive buffer, more than a busy loop leaves unread between two turns. (The kernel counts
// several times a small datagram's size.)
constexpr int kDatagramBuffer = 16 << 20;

// Enlarges the buffer. A privileged process may exceed net.core.rmem_max. Other processes get at most that
// size.
void enlarge_receive_buffer(int socket) {
#ifdef SO_RCVBUFFORCE
  if (::setsockopt(socket, SOL_SOCKET, SO_RCVBUFFORCE, &kDatagramBuffer, sizeof kDatagramBuffer) == 0) return;
#endif
  // Other systems refuse sizes that they cannot grant, so smaller ones are tried.
  for (int bytes = kDatagramBuffer; bytes > 64 << 10; bytes /= 2)
    if (::setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes) == 0) return;
}

}  // namespace

Fd socket_of(Transport transport, int family, int flags) {
  return transport == Transport::stream ? stream_socket(family, flags) : datagram_socket(family, flags);
}

void apply(const SocketOptions& options, int socket, Transport transport) {
  if (options.send_buffer > 0) set(socket, SOL_SOCKET, SO_SNDBUF, options.send_buffer, "SO_SNDBUF");
  if (options.receive_buffer > 0) set(socket, SOL_SOCKET, SO_RCVBUF, options.receive_buffer, "SO_RCVBUF");
  if (transport == Transport::datagram) {
    if (options.receive_buffer == 0) enlarge_receive_buffer(socket);
    return;
  }
  const auto family = family_of(socket);
  if (checked(family ? *family : -1, "getsockopt(SO_DOMAIN)") == AF_UNIX) return;
  set(socket, IPPROTO_TCP, TCP_NODELAY, options.nodelay ? 1 : 0, "TCP_NODELAY");
  if (!options.congestion.empty()) {
    // Fails without the right to use it (EPERM) or if the module is missing (ENOENT): the results show it.
    set_congestion(socket, options.congestion);
  }
}

std::string congestion_refused(const std::string& name, int family) {
  if (name.empty()) return {};
  const Fd socket = stream_socket(family, 0);
  if (!socket.is_open() && errno == EAFNOSUPPORT) return {};
  checked(socket.get(), "socket({})", family);
  if (set_congestion(socket.get(), name) == 0) return {};
  if (errno == EPERM)
    return "only privileged users may have it here; others may have: " +
           kernel_list("tcp_allowed_congestion_control");
  return "this kernel does not offer it; it offers: " + kernel_list("tcp_available_congestion_control");
}

SocketFacts read_back(int socket) {
  SocketFacts facts;
  facts.send_buffer = get(socket, SOL_SOCKET, SO_SNDBUF);
  facts.receive_buffer = get(socket, SOL_SOCKET, SO_RCVBUF);
  if (family_of(socket).value_or(AF_UNIX) == AF_UNIX) return facts;
  if (const auto nodelay = get(socket, IPPROTO_TCP, TCP_NODELAY)) facts.nodelay = *nodelay != 0;
  facts.congestion = congestion_of(socket);
  if (get(socket, SOL_SOCKET, SO_ACCEPTCONN).value_or(0) != 0) facts.backlog = accept_queue(socket).backlog;
  return facts;
}

std::uint64_t dropped_datagrams([[maybe_unused]] int socket) {
#ifdef SO_MEMINFO
  std::array<std::uint32_t, SK_MEMINFO_VARS> figures{};
  socklen_t size = sizeof figures;
  if (::getsockopt(socket, SOL_SOCKET, SO_MEMINFO, figures.data(), &size) == 0)
    return figures[SK_MEMINFO_DROPS];
#endif
  return 0;
}

void set_timeout(int socket, int option, Duration time) {
  time = std::max<Duration>(time, std::chrono::microseconds(1));  // zero would mean no timeout
  const timeval value{
      .tv_sec = time / std::chrono::seconds(1),
      .tv_usec = static_cast<suseconds_t>(time % std::chrono::seconds(1) / std::chrono::microseconds(1))};
  checked(::setsockopt(socket, SOL_SOCKET, option, &value, sizeof value), "setsockopt({})", option);
}

}  // namespace joust
