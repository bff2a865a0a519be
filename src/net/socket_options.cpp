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

#include "base/check.hpp"
#include "base/fd.hpp"

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

int set_congestion(int socket, const std::string& name) {
  return ::setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.data(), static_cast<socklen_t>(name.size()));
}

// A list in /proc/sys/net/ipv4, as the kernel writes it: "reno cubic".
std::string kernel_list(const std::string& name) {
  std::string line;
  std::getline(std::ifstream("/proc/sys/net/ipv4/" + name) >> std::ws, line);
  return line.empty() ? "nothing it would name" : line;
}

}  // namespace

void apply(const SocketOptions& options, int socket) {
  if (options.send_buffer > 0) set(socket, SOL_SOCKET, SO_SNDBUF, options.send_buffer, "SO_SNDBUF");
  if (options.receive_buffer > 0) set(socket, SOL_SOCKET, SO_RCVBUF, options.receive_buffer, "SO_RCVBUF");
  if (domain_of(socket) == AF_UNIX) return;
  set(socket, IPPROTO_TCP, TCP_NODELAY, options.nodelay ? 1 : 0, "TCP_NODELAY");
  if (!options.congestion.empty()) {
    // Refused without the right to use it (EPERM) or where the module is missing (ENOENT): the results tell.
    set_congestion(socket, options.congestion);
  }
}

std::string congestion_refused(const std::string& name, int family) {
  if (name.empty()) return {};
  const int number = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (number < 0 && errno == EAFNOSUPPORT) return {};
  const Fd socket(checked(number, "socket({})", family));
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
  if (get(socket, SOL_SOCKET, SO_DOMAIN).value_or(AF_UNIX) == AF_UNIX) return facts;
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

void set_timeout(int socket, int option, Duration time) {
  time = std::max<Duration>(time, std::chrono::microseconds(1));  // zero would mean no timeout
  const timeval value{.tv_sec = time / std::chrono::seconds(1),
                      .tv_usec = time % std::chrono::seconds(1) / std::chrono::microseconds(1)};
  checked(::setsockopt(socket, SOL_SOCKET, option, &value, sizeof value), "setsockopt({})", option);
}

}  // namespace joust
