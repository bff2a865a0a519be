// SPDX-License-Identifier: MIT
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "joust/service.hpp"

namespace joust {

// One socket address a name stands for.
struct Endpoint {
  sockaddr_storage storage{};
  socklen_t size = 0;

  int family() const { return storage.ss_family; }
  const sockaddr* raw() const { return reinterpret_cast<const sockaddr*>(&storage); }
};
bool operator==(const Endpoint& one, const Endpoint& other);

// "127.0.0.1:9000", "[::1]:9000", "unix:/run/x.sock".
std::string to_text(const Endpoint& endpoint);

// The port, in the machine's byte order; 0 for a unix socket, which has none.
std::uint16_t port_of(const Endpoint& endpoint);
Endpoint with_port(Endpoint endpoint, std::uint16_t port);  // a unix socket's stays as it is

// True where nothing outside this machine can reach the address: loopback and unix sockets.
bool is_local(const Endpoint& endpoint);

// Whether it stands for every address of this machine: 0.0.0.0 and [::].
bool is_wildcard(const Endpoint& endpoint);

// Whether it is a group of IPv4 multicast: 224.0.0.0 to 239.255.255.255.
bool is_group(const Endpoint& endpoint);

PeerAddress peer_address(const Endpoint& endpoint);

// The address of a socket that is bound, with its port. Throws std::system_error.
Endpoint bound_address(int socket);

// The address at the other end of a connected socket; unknown when the connection is already gone.
PeerAddress peer_of(int socket);
// The port there; 0 where there is none.
std::uint16_t peer_port(int socket);

// What is wrong with the text of an address before any name is looked up; empty where nothing is.
std::string objection_to_address(std::string_view text);

// Whether it is "*:9000", which stands for every address of this machine, IPv4 and IPv6.
bool means_every_address(std::string_view text);

// Whether the address, to which nothing is objected, holds a name that has to be looked up.
bool holds_name(std::string_view text);

// The addresses of "127.0.0.1:9000", "[::1]:9000", "host.name:9000", ":9000" (loopback), "*:9000" (0.0.0.0
// and
// [::]) or "unix:PATH", in the order to be tried, each once; never empty. May ask a name server, and block
// for it: see resolve_within(). A failure has stage resolve and says what is wrong with the text.
std::expected<std::vector<Endpoint>, Failure> resolve(std::string_view text);

}  // namespace joust
