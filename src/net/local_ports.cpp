// SPDX-License-Identifier: MIT
#include "net/local_ports.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#ifndef __linux__
#include <sys/sysctl.h>
#include <sys/types.h>
#endif

#include <fstream>
#include <string_view>

#include "base/check.hpp"

namespace joust {
namespace {

constexpr std::uint32_t kFirstSource = 0x7F000002;  // 127.0.0.2

// Linux has the whole of 127.0.0.0/8, other systems only 127.0.0.1. There, connect() chooses the port.
#ifdef __linux__
constexpr bool kHasSources = true;
constexpr std::string_view kNameOfRange = "net.ipv4.ip_local_port_range";
constexpr int kPortLater = IP_BIND_ADDRESS_NO_PORT;
#else
constexpr bool kHasSources = false;
constexpr std::string_view kNameOfRange = "net.inet.ip.portrange";
constexpr int kPortLater = 0;

std::uint64_t system_number(const std::string& name) {
  int number = 0;
  std::size_t size = sizeof number;
  const bool known = ::sysctlbyname(name.c_str(), &number, &size, nullptr, 0) == 0 && number > 0;
  return known ? static_cast<std::uint64_t>(number) : 0;
}
#endif

// Returns the ports of a source that may be used. The rest is left to other programs, and to connections that
// are not fully closed.
std::uint64_t usable(const LocalPorts& ports) {
  return ports.count() - ports.count() / 4;
}

}  // namespace

LocalPorts local_ports() {
  LocalPorts read;
#ifdef __linux__
  std::ifstream file("/proc/sys/net/ipv4/ip_local_port_range");
  if (!(file >> read.first >> read.last)) return {};
#else
  const std::string range(kNameOfRange);
  read = {system_number(range + ".first"), system_number(range + ".last")};
#endif
  if (read.last < read.first || read.last == 0) return {};
  return read;
}

bool is_ipv4_loopback(const Endpoint& endpoint) {
  if (endpoint.family() != AF_INET) return false;
  const auto* address = reinterpret_cast<const sockaddr_in*>(&endpoint.storage);
  return (ntohl(address->sin_addr.s_addr) >> 24) == 127;
}

std::expected<std::uint64_t, std::string> sources_for(const Endpoint& endpoint, std::uint64_t connections,
                                                      const LocalPorts& ports) {
  if (endpoint.family() == AF_UNIX) return 1;
  if (kHasSources && is_ipv4_loopback(endpoint))
    return connections <= usable(ports) ? 1 : (connections + usable(ports) - 1) / usable(ports);
  if (connections <= ports.count()) return 1;
  return std::unexpected(fmt::format(
      "{} connections to {} need as many local ports, and this machine gives out {} "
      "({}: {} {}); ask for fewer, or widen the range{}",
      connections, to_text(endpoint), ports.count(), kNameOfRange, ports.first, ports.last,
      kHasSources ? ", or load a server at 127.0.0.1, where joust takes several source addresses" : ""));
}

void bind_to_source(int socket, std::uint64_t number) {
  const int yes = 1;
  checked(::setsockopt(socket, IPPROTO_IP, kPortLater, &yes, sizeof yes),
          "setsockopt(IP_BIND_ADDRESS_NO_PORT)");
  sockaddr_in source{};
  source.sin_family = AF_INET;
  source.sin_addr.s_addr = htonl(kFirstSource + static_cast<std::uint32_t>(number));
  checked(::bind(socket, reinterpret_cast<const sockaddr*>(&source), sizeof source), "bind(127.0.0.{})",
          2 + number);
}

}  // namespace joust
