// SPDX-License-Identifier: MIT
#include "net/address.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <exception>
#include <fstream>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>

#include "base/bytes.hpp"
#include "base/check.hpp"
#include "base/signals.hpp"
#include "base/units.hpp"

#ifndef __linux__
#include <sys/sysctl.h>
#include <sys/types.h>
#endif

namespace joust {
namespace {

constexpr std::string_view kUnix = "unix:";
constexpr std::string_view kEveryAddress = "*";

std::unexpected<Failure> unusable(std::string_view text, std::string_view why) {
  return std::unexpected(Failure{Stage::resolve, 0, fmt::format("'{}': {}", text, why)});
}

std::string objection_to_path(std::string_view path) {
  constexpr std::size_t kLongest = sizeof sockaddr_un{}.sun_path - 1;
  if (path.empty()) return "the path is missing (write it like unix:/tmp/joust.sock)";
  return path.size() > kLongest ? fmt::format("a unix socket's path has at most {} bytes", kLongest) : "";
}

std::vector<Endpoint> unix_endpoint(std::string_view path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::ranges::copy(path, address.sun_path);
  Endpoint endpoint;
  std::memcpy(&endpoint.storage, &address, sizeof address);
  endpoint.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  return {endpoint};
}

bool is_port(std::string_view text) {
  unsigned port = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc{} && rest == text.data() + text.size() && port <= 65535;
}

struct HostAndPort {
  std::string_view host, port;
};

// Splits the text, which must have a colon. Removes the brackets of an IPv6 address.
HostAndPort split(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return {host, text.substr(colon + 1)};
}

bool is_ipv6(std::string_view host) {
  in6_addr address{};
  return ::inet_pton(AF_INET6, std::string(host.substr(0, host.find('%'))).c_str(), &address) == 1;
}

bool is_ipv4(std::string_view host) {
  in_addr address{};
  return ::inet_aton(std::string(host).c_str(), &address) != 0;
}

// Returns whether the host has only digits and dots but is no address. Such a host is never looked up as a
// name.
bool is_broken_ipv4(std::string_view host) {
  return !host.empty() && host.find_first_not_of("0123456789.") == std::string_view::npos && !is_ipv4(host);
}

// Returns the value of an IPv4 address. No IPv6 network in use has this upper half, so the two families have
// no value in common.
PeerAddress ipv4_peer(std::uint32_t address) {
  return static_cast<PeerAddress>(std::uint64_t{0xffff} << 32 | address);
}

}  // namespace

std::string objection_to_address(std::string_view text) {
  if (text.starts_with(kUnix)) return objection_to_path(text.substr(kUnix.size()));
  constexpr auto kNoPort = "the port is missing (write it like 127.0.0.1:9000)";
  constexpr auto kBrackets = "an IPv6 address stands in brackets (write it like [::1]:9000)";
  if (!text.contains(':')) return kNoPort;
  if (text.contains("://")) return "this is a URL (write the address like 127.0.0.1:9000)";
  if (text.starts_with('[') && text.ends_with(']')) return "the port is missing (write it like [::1]:9000)";
  const auto [host, port] = split(text);
  if (port.empty()) return host.contains(':') && !text.contains("]:") ? kBrackets : kNoPort;
  if (!is_port(port)) return "the port is not a number from 0 to 65535";
  if (text.starts_with('[') && text.contains("]:") && !is_ipv6(host))
    return "there is no IPv6 address in the brackets (write it like [::1]:9000)";
  if (is_broken_ipv4(host)) return "this is no IPv4 address (write it like 127.0.0.1:9000)";
  if (host.find_first_of(" \t\n/") != std::string_view::npos) return "the host name has a blank or a slash";
  if ((host.contains(':') && !text.contains("]:")) || host.contains('[') || host.contains(']'))
    return kBrackets;
  return {};
}

bool holds_name(std::string_view text) {
  if (text.starts_with(kUnix) || !objection_to_address(text).empty()) return false;
  const std::string_view host = split(text).host;
  return !host.empty() && host != kEveryAddress && !is_ipv4(host) && !is_ipv6(host);
}

std::string host_of(std::string_view text) {
  if (text.starts_with(kUnix)) return {};
  std::string_view host = text.substr(0, text.rfind(':'));
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return std::string(host);
}

bool means_every_address(std::string_view text) {
  return !text.starts_with(kUnix) && text.contains(':') && split(text).host == kEveryAddress;
}

std::expected<std::vector<Endpoint>, Failure> resolve(std::string_view text) {
  if (const std::string objection = objection_to_address(text); !objection.empty())
    return unusable(text, objection);
  if (text.starts_with(kUnix)) return unix_endpoint(text.substr(kUnix.size()));
  const HostAndPort parts = split(text);
  const std::string name = parts.host.empty() ? "127.0.0.1" : std::string(parts.host);
  const std::string port(parts.port);

  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | (name == kEveryAddress ? AI_PASSIVE : 0);
  const char* const host = name == kEveryAddress ? nullptr : name.c_str();
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host, port.c_str(), &hints, &found); error != 0)
    return unusable(text, ::gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, ::freeaddrinfo);
  std::vector<Endpoint> endpoints;
  for (const addrinfo* info = found; info != nullptr; info = info->ai_next) {
    Endpoint endpoint;
    std::memcpy(&endpoint.storage, info->ai_addr, info->ai_addrlen);
    endpoint.size = info->ai_addrlen;
    // A name may occur in more than one line of /etc/hosts.
    if (std::ranges::find(endpoints, endpoint) == endpoints.end()) endpoints.push_back(endpoint);
  }
  if (host == nullptr) std::ranges::stable_sort(endpoints, {}, &Endpoint::family);  // AF_INET is less
  return endpoints;
}

bool operator==(const Endpoint& one, const Endpoint& other) {
  return one.size == other.size && std::memcmp(&one.storage, &other.storage, one.size) == 0;
}

std::string to_text(const Endpoint& endpoint) {
  if (endpoint.family() == AF_UNIX) {
    sockaddr_un address{};
    std::memcpy(&address, &endpoint.storage, std::min<std::size_t>(endpoint.size, sizeof address));
    address.sun_path[sizeof address.sun_path - 1] = '\0';
    return fmt::format("{}{}", kUnix, address.sun_path);
  }
  char host[NI_MAXHOST] = {};
  char port[NI_MAXSERV] = {};
  ::getnameinfo(endpoint.raw(), endpoint.size, host, sizeof host, port, sizeof port,
                NI_NUMERICHOST | NI_NUMERICSERV);
  return endpoint.family() == AF_INET6 ? fmt::format("[{}]:{}", host, port)
                                       : fmt::format("{}:{}", host, port);
}

std::uint16_t port_of(const Endpoint& endpoint) {
  sockaddr_in address{};  // in sockaddr_in6 the port has the same place
  if (endpoint.family() == AF_UNIX) return 0;
  std::memcpy(&address, &endpoint.storage, sizeof address);
  return ntohs(address.sin_port);
}

Endpoint with_port(Endpoint endpoint, std::uint16_t port) {
  if (endpoint.family() == AF_UNIX) return endpoint;
  static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
  const in_port_t in_network_order = htons(port);
  std::memcpy(reinterpret_cast<std::byte*>(&endpoint.storage) + offsetof(sockaddr_in, sin_port),
              &in_network_order, sizeof in_network_order);
  return endpoint;
}

bool is_local(const Endpoint& endpoint) {
  switch (endpoint.family()) {
    case AF_UNIX:
      return true;
    case AF_INET: {
      sockaddr_in address{};
      std::memcpy(&address, &endpoint.storage, sizeof address);
      return ntohl(address.sin_addr.s_addr) >> 24 == 127;
    }
    case AF_INET6: {
      sockaddr_in6 address{};
      std::memcpy(&address, &endpoint.storage, sizeof address);
      return IN6_IS_ADDR_LOOPBACK(&address.sin6_addr);
    }
    default:
      return false;
  }
}

bool is_wildcard(const Endpoint& endpoint) {
  if (endpoint.family() == AF_INET) {
    sockaddr_in address{};
    std::memcpy(&address, &endpoint.storage, sizeof address);
    return address.sin_addr.s_addr == htonl(INADDR_ANY);
  }
  if (endpoint.family() != AF_INET6) return false;
  sockaddr_in6 address{};
  std::memcpy(&address, &endpoint.storage, sizeof address);
  std::uint32_t last = 0;
  std::memcpy(&last, &address.sin6_addr.s6_addr[12], sizeof last);
  return last == 0 &&
         (IN6_IS_ADDR_UNSPECIFIED(&address.sin6_addr) || IN6_IS_ADDR_V4MAPPED(&address.sin6_addr));
}

bool is_group(const Endpoint& endpoint) {
  sockaddr_in address{};
  std::memcpy(&address, &endpoint.storage, sizeof address);
  return endpoint.family() == AF_INET && IN_MULTICAST(ntohl(address.sin_addr.s_addr));
}

PeerAddress peer_address(const Endpoint& endpoint) {
  if (endpoint.family() == AF_INET) {
    sockaddr_in address{};
    std::memcpy(&address, &endpoint.storage, sizeof address);
    return ipv4_peer(ntohl(address.sin_addr.s_addr));
  }
  if (endpoint.family() != AF_INET6) return PeerAddress::unknown;
  sockaddr_in6 address{};
  std::memcpy(&address, &endpoint.storage, sizeof address);
  const auto* const bytes = reinterpret_cast<const std::byte*>(&address.sin6_addr);
  if (IN6_IS_ADDR_V4MAPPED(&address.sin6_addr)) return ipv4_peer(read_big_endian<std::uint32_t>(bytes + 12));
  return static_cast<PeerAddress>(read_big_endian<std::uint64_t>(bytes));
}

Endpoint bound_address(int socket) {
  Endpoint own;
  own.size = sizeof own.storage;
  checked(::getsockname(socket, reinterpret_cast<sockaddr*>(&own.storage), &own.size), "getsockname()");
  return own;
}

namespace {

// Returns the address of the peer; without a family if the connection has already ended.
Endpoint other_end(int socket) {
  Endpoint peer;
  peer.size = sizeof peer.storage;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&peer.storage), &peer.size) != 0) return {};
  return peer;
}

}  // namespace

PeerAddress peer_of(int socket) {
  return peer_address(other_end(socket));
}

bool has_gone(int socket) {
  return other_end(socket).size == 0;
}

std::uint16_t peer_port(int socket) {
  return port_of(other_end(socket));
}

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

namespace {

using Answer = std::expected<std::vector<Endpoint>, Failure>;

// The state of one lookup. The thread may outlive the caller, so both share the ownership.
struct Lookup {
  std::mutex mutex;
  std::condition_variable answered;
  std::optional<Answer> answer;
};

Failure failed_with(int error, std::string_view text) {
  return {Stage::resolve, error, fmt::format("'{}'", text)};
}

Answer answer_of(const Resolver& resolver, const std::string& text) {
  try {
    return resolver(text);
  } catch (const std::bad_alloc&) {
    return std::unexpected(failed_with(ENOMEM, text));
  }
}

void look_up(const std::shared_ptr<Lookup>& lookup, const Resolver& resolver, const std::string& text) {
  Answer answer = answer_of(resolver, text);
  const std::lock_guard lock(lookup->mutex);
  lookup->answer = std::move(answer);
  lookup->answered.notify_all();
}

}  // namespace

std::expected<std::vector<Endpoint>, Failure> resolve_within(Duration limit, std::string_view text,
                                                             const Resolver& resolver) {
  if (!holds_name(text)) return resolver(text);
  const auto lookup = std::make_shared<Lookup>();
  try {
    const SignalsBlocked blocked;  // the program's signals are for its own threads
    std::thread(look_up, lookup, resolver, std::string(text)).detach();
  } catch (const std::system_error& error) {
    return std::unexpected(failed_with(error.code().value(), text));
  }
  std::unique_lock lock(lookup->mutex);
  if (lookup->answered.wait_for(lock, limit, [&] { return lookup->answer.has_value(); }))
    return std::move(*lookup->answer);
  return std::unexpected(
      Failure{Stage::resolve, ETIMEDOUT, fmt::format("'{}': no answer in {}", text, format_duration(limit))});
}

}  // namespace joust
