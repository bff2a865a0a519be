// SPDX-License-Identifier: MIT
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <expected>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "joust/service.hpp"

namespace joust {

// One socket address that a name stands for.
struct Endpoint {
  sockaddr_storage storage{};
  socklen_t size = 0;

  int family() const { return storage.ss_family; }
  const sockaddr* raw() const { return reinterpret_cast<const sockaddr*>(&storage); }
};
bool operator==(const Endpoint& one, const Endpoint& other);

// Formats an address: "127.0.0.1:9000", "[::1]:9000", "unix:/run/x.sock".
std::string to_text(const Endpoint& endpoint);

// Returns the port, in the machine's byte order; 0 for a unix socket, which has none.
std::uint16_t port_of(const Endpoint& endpoint);
Endpoint with_port(Endpoint endpoint, std::uint16_t port);  // a unix socket's address stays as it is

// Returns true where other machines cannot reach the address: loopback and unix sockets.
bool is_local(const Endpoint& endpoint);

// Returns whether the address stands for every address of this machine: 0.0.0.0 and [::].
bool is_wildcard(const Endpoint& endpoint);

// Returns whether the address is an IPv4 multicast group: 224.0.0.0 to 239.255.255.255.
bool is_group(const Endpoint& endpoint);

PeerAddress peer_address(const Endpoint& endpoint);

// Returns the address of a bound socket, with its port. Throws std::system_error.
Endpoint bound_address(int socket);

// Returns the address at the other end of a connected socket; unknown if the connection has already ended.
PeerAddress peer_of(int socket);
// Returns whether the other end of a socket that was accepted has reset the connection already.
bool has_gone(int socket);
// Returns the port at the other end; 0 if it has none.
std::uint16_t peer_port(int socket);

// Returns the error in the text of an address, before any name is looked up. Empty if it has none.
std::string objection_to_address(std::string_view text);

// Returns the host in the text of a valid address: "127.0.0.1", "::1", "host.name". Empty if it has none,
// like
// ":9000" and a unix socket.
std::string host_of(std::string_view text);

// Returns whether the text is "*:9000", which stands for every address of this machine, IPv4 and IPv6.
bool means_every_address(std::string_view text);

// Returns whether a valid address contains a name that has to be looked up.
bool holds_name(std::string_view text);

// Returns the addresses of "127.0.0.1:9000", "[::1]:9000", "host.name:9000", ":9000" (loopback), "*:9000"
// (0.0.0.0 and [::]) or "unix:PATH", in the order to be tried, each once; never empty. May ask a name server,
// and block for it: see resolve_within(). A failure has stage resolve and names the error in the text.
std::expected<std::vector<Endpoint>, Failure> resolve(std::string_view text);

// Each connection from one source address to one destination needs a local port of its own, and the kernel
// takes these ports from one range (net.ipv4.ip_local_port_range).

struct LocalPorts {
  std::uint64_t first = 32768, last = 60999;

  std::uint64_t count() const { return last - first + 1; }
};

LocalPorts local_ports();  // this machine's; the kernel's default if /proc does not have them

// Returns from how many source addresses so many connections to the endpoint must come; 1: the kernel's
// choice is enough. Only IPv4 loopback has several. For other addresses the error names the shortage and the
// remedy.
std::expected<std::uint64_t, std::string> sources_for(const Endpoint& endpoint, std::uint64_t connections,
                                                      const LocalPorts& ports);

// Binds a socket that will connect within IPv4 loopback to source `number`: 127.0.0.2, 127.0.0.3, ... The
// port is chosen by connect(), so that one port serves several destinations. Throws std::system_error.
void bind_to_source(int socket, std::uint64_t number);

bool is_ipv4_loopback(const Endpoint& endpoint);  // 127.0.0.0/8

using Resolver = std::function<std::expected<std::vector<Endpoint>, Failure>(std::string_view text)>;

// Calls resolve() with a time limit, which getaddrinfo(3) lacks: it asks several name servers several times.
// A name is looked up on a thread of its own. When the limit has passed, that thread is abandoned, and the
// result is a failure of the stage resolve with ETIMEDOUT. An abandoned thread does not keep the process from
// ending. Addresses without a name need no thread.
std::expected<std::vector<Endpoint>, Failure> resolve_within(Duration limit, std::string_view text,
                                                             const Resolver& resolver = resolve);

}  // namespace joust
